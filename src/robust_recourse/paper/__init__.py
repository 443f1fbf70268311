"""The paper: its data sets, experiments, reproduction and demo."""
