"""Boundary points and neighbourhoods: what is asked of the model, through labels only."""
