"""Experiments: what to run, running it so that nothing finished is lost, and what came out."""

TARGETS = ("table1", "pareto", "published", "figure1", "figure3")
"""Experiments that come with the library: tables and figures of the paper, and the published code's setting."""

PROFILES = ("quick", "paper")
"""Sizes of these experiments."""
