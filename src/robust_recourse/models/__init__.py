"""Adapters: from anything that predicts to labels."""
