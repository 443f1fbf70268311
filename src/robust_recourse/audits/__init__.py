"""Recourse by group."""
