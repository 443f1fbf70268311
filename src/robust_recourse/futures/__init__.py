"""Retrained models, and the scenarios that they come from."""
