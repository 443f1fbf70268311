"""Whether two tables that belong together by position do so by their index, too."""

from __future__ import annotations

from typing import Any

import pandas as pd

__all__ = ["check_order"]


def check_order(values: Any, name: str, rows: Any, rows_name: str) -> None:
    """Raise if `values` has the labels of `rows` in another order: by position the wrong ones would be paired."""
    kinds = pd.Series | pd.DataFrame
    if not isinstance(values, kinds) or not isinstance(rows, kinds):
        return
    own, others = values.index, rows.index
    if len(own) != len(others) or own.equals(others) or not own.is_unique or not others.is_unique:
        return
    if own.isin(others).all():
        raise ValueError(
            f"{name} has the labels of {rows_name} in another order, and the two belong together by position. Pass "
            f"{name}.loc[{rows_name}.index]."
        )
