"""The leaves of a single tree, as boxes of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["accepted_leaves"]


def accepted_leaves(model: Any, favourable: Any = None) -> tuple[FloatArray, FloatArray] | None:
    """Return the smallest and the largest rows of the leaves of a decision tree that accept; None of other models.

    A tree reads numbers in single precision, and goes left where one is at most the threshold: the ends of a leaf are
    the last numbers in that precision that it holds.

    Parameters
    ----------
    model : object
        Anything; a tree is what has a ``tree_`` of scikit-learn with one output and two classes.
    favourable : object, optional
        The label that is wanted, 1 if None.

    Returns
    -------
    low, high : ndarray of shape (n, p)
        In the order of the columns that the tree was fitted with; infinite where a leaf has no end.
    """
    tree: Any = getattr(model, "tree_", None)
    classes = getattr(model, "classes_", ())
    if not hasattr(tree, "children_left") or np.shape(classes) != (2,):
        return None
    wanted = np.asarray(classes == (1 if favourable is None else favourable))
    if wanted.sum() != 1:
        return None
    leaves, open_nodes = [], [(0, np.full((2, tree.n_features), [[-np.inf], [np.inf]]))]
    while open_nodes:
        node, ends = open_nodes.pop()
        left, right, k = tree.children_left[node], tree.children_right[node], tree.feature[node]
        if left == right:
            if wanted[np.argmax(tree.value[node][0])]:
                leaves.append(ends)
            continue
        below, above = ends.copy(), ends.copy()
        last = np.float32(tree.threshold[node])
        if last > tree.threshold[node]:
            last = np.nextafter(last, np.float32(-np.inf))
        below[1, k] = min(ends[1, k], float(last))
        above[0, k] = max(ends[0, k], float(np.nextafter(last, np.float32(np.inf))))
        open_nodes += [(right, above), (left, below)]
    found = np.array(leaves).reshape(-1, 2, tree.n_features)
    return found[:, 0], found[:, 1]
