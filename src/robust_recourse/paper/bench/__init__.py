"""Experiments: what to run, running it so that nothing finished is lost, and what came out."""

TARGETS = ("table1", "pareto", "jury", "published", "figure1", "figure3")
"""Experiments that come with the library: tables and figures of the paper, the published code's setting, and juries."""

PROFILES = ("quick", "paper")
"""Sizes of these experiments."""
