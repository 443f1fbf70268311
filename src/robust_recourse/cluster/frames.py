"""Recourses for those who live in Dask: a frame in, a frame out."""

from __future__ import annotations

from typing import Any

import pandas as pd

from robust_recourse._typing import Unseen
from robust_recourse.cluster.sending import Packed, packed_method
from robust_recourse.result.frames import frame_of

__all__ = ["explain_frame"]


def explain_frame(method: Any, frame: Any, *, n_recourses: int = 1, unseen: Unseen = "ignore") -> Any:
    """Find recourses for every row of a frame of Dask, partition by partition, when it is computed.

    Parameters
    ----------
    method : RecourseMethod
        A fitted method.
    frame : dask.dataframe.DataFrame
        The rows.
    n_recourses, unseen
        As for :meth:`RecourseMethod.explain`.

    Returns
    -------
    dask.dataframe.DataFrame
        What ``method.explain(X).to_frame()`` is of the whole, with the partitions of `frame`. With several recourses
        it always has the columns `person` and `rank`.

    Examples
    --------
    >>> import dask.dataframe as dd, numpy as np, pandas as pd
    >>> from robust_recourse import NearestAccepted
    >>> from robust_recourse.cluster import explain_frame
    >>> people = pd.DataFrame({"income": [1.0, 2.0, 3.0, 4.0], "debt": [4.0, 3.0, 2.0, 1.0]})
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit(people, [0, 0, 1, 1])
    >>> method = NearestAccepted(model, random_state=0).fit(people)
    >>> found = explain_frame(method, dd.from_pandas(people, npartitions=2))
    >>> found.compute(scheduler="sync")["status"].tolist()
    ['ok', 'ok', 'already favourable', 'already favourable']
    """
    try:
        import dask.dataframe
        from dask.delayed import delayed
    except ImportError as error:
        raise ImportError(f"Frames of Dask need it ({error}): pip install 'robust-recourse[dask]'") from error
    method = getattr(method, "best_method_", method)
    method.check_ready(n_recourses)
    kind: Any = dask.dataframe.DataFrame
    if not isinstance(frame, kind):
        raise TypeError(f"frame must be a frame of Dask, got {type(frame).__name__}. Of others, take method.explain.")
    like = frame._meta
    meta = frame_of(method.explain_table(method.read(like, unseen="ignore")), several=n_recourses > 1)
    packed = delayed(packed_method(method), pure=True)
    partitions = frame.to_delayed()
    before: Any = [0] * len(partitions)
    if n_recourses > 1:
        lengths = [delayed(len)(partition) for partition in partitions]
        before = [delayed(sum)(lengths[:k]) for k in range(len(partitions))]
    explain = delayed(_explained, pure=True)
    parts = [
        explain(packed, partition, like, n_recourses, unseen, some)
        for partition, some in zip(partitions, before, strict=True)
    ]
    return dask.dataframe.from_delayed(parts, meta=meta, divisions=frame.divisions, verify_meta=False)


def _explained(
    packed: Packed, partition: pd.DataFrame, like: pd.DataFrame, n_recourses: int, unseen: Unseen, before: int
) -> pd.DataFrame:
    method = packed.value()
    # Whoever has no gap in a partition would make it another type than that of the whole.
    different = {name: dtype for name, dtype in like.dtypes.items() if partition[name].dtype != dtype}
    table = method.read(partition.astype(different) if different else partition, unseen=unseen)
    return frame_of(method.explain_table(table, n_recourses), several=n_recourses > 1, before=before)
