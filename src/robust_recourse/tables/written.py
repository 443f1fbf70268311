"""Columns of texts that look like numbers somebody wrote as text."""

from __future__ import annotations

import re
import unicodedata
import warnings
from typing import Any

import pandas as pd
from pandas.api import types

from robust_recourse.tables.columns import Column

__all__ = ["doubt_texts", "reads_as_number"]

_SHARE = 0.9  # of the different texts: what stands for a gap ("?", "unknown") is among the others
_CODES = 10  # different whole numbers without signs may be codes that somebody made texts on purpose
_LOOKED_AT = 1000  # texts, at most
_SIGN = "[.,'\u2019\u00a0\u202f ]"  # between thousands
_NUMBER = re.compile(
    rf"[+\-\u2212]?(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?P<sign>{_SIGN})\d{{3}}(?:(?P=sign)\d{{3}})*|(?=[.,]))"
    r"(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
)
_WHOLE = re.compile(r"\d+")
_UNIT = re.compile(r"(?<=\d)\s*(?:[kKmM%]|[A-Z]{3})$|^[A-Z]{3}\s+(?=[\d+\-.,\u2212])")


def doubt_texts(series: pd.Series, column: Column) -> None:
    """Ask whether a column of texts was meant to hold numbers; one of the type category says what it is.

    Parameters
    ----------
    series : Series
        The training values.
    column : Column
        What was learnt about them.
    """
    if column.kind not in ("category", "fixed") or not (
        types.is_object_dtype(series.dtype) or types.is_string_dtype(series.dtype)
    ):
        return
    texts = [value for value in pd.unique(series.dropna()) if isinstance(value, str)]
    texts = texts[:: max(1, len(texts) // _LOOKED_AT)]
    numbers = [text for text in texts if reads_as_number(text)]
    written = [text for text in numbers if not _WHOLE.fullmatch(text)]
    if len(numbers) < max(2, _SHARE * len(texts)) or not (len(numbers) > _CODES or written):
        return
    share = "all" if len(numbers) == len(texts) else f"{100 * len(numbers) // len(texts)} % of"
    warnings.warn(
        f"Column {series.name!r} holds texts, but {share} its different texts read as numbers, such as "
        f"{(written or numbers)[0]!r}. Store plain numbers, as pd.to_numeric reads them; if they are codes, say so "
        f"with actions.categories[{series.name!r}] or the type category.",
        stacklevel=4,
    )


def reads_as_number(text: Any) -> bool:
    """Whether a person reads a text as a number, with signs of currencies and thousands; codes begin with a 0.

    >>> [reads_as_number(text) for text in ("20,000", "\u20ac 1.234,50", "1.5k", "-3", "12 %", "1e5", ".5")]
    [True, True, True, True, True, True, True]
    >>> [reads_as_number(text) for text in ("01234", "18-25", "2020-01-31", "31.01.2020", "A1", "", "12,34,56")]
    [False, False, False, False, False, False, False]
    """
    plain = "".join(sign for sign in text if unicodedata.category(sign) != "Sc").strip()
    return _NUMBER.fullmatch(_UNIT.sub("", plain).strip()) is not None and any(map(str.isdigit, plain))
