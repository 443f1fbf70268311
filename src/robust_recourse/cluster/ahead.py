"""What a process that computes parts needs; whoever starts several imports it once, before there are several."""

from __future__ import annotations

from contextlib import suppress

import robust_recourse.cluster.job  # noqa: F401

with suppress(Exception):  # whatever is wrong with it, whoever reads a model says so
    import skops.io  # noqa: F401
