"""Uniform points in a ball, drawn anew and identically for every row."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["row_generator", "unit_ball"]


def row_generator(row: FloatArray, seed: int, draw: int = 0) -> np.random.Generator:
    """Return the generator of a row's draw: it depends on the row's values, the seed and the draw only.

    So the same person gets the same answer, wherever the row stands and whatever it is explained with.
    """
    # Adding zero turns -0.0 into 0.0.
    content = np.ascontiguousarray(row + 0.0).tobytes()
    digest = hashlib.blake2b(content, digest_size=16, key=f"{seed}/{draw}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def unit_ball(rngs: Sequence[np.random.Generator], n: int, p: int) -> FloatArray:
    """Draw from every generator `n` points uniformly in the unit L2 ball of dimension `p`."""
    points = np.empty((len(rngs), n, p))
    lengths = np.empty((len(rngs), n))
    for rng, directions, uniform in zip(rngs, points, lengths, strict=True):
        rng.standard_normal(out=directions)
        rng.random(out=uniform)
    lengths **= 1.0 / p
    lengths /= np.sqrt(np.einsum("mnp,mnp->mn", points, points))
    points *= lengths[:, :, None]
    return points
