"""Recourses in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from robust_recourse.notices import Notice
from robust_recourse.notices.sentences import phrases
from robust_recourse.notices.values import amount, label_text, printable

__all__ = ["MOST_SHOWN", "changes_text", "shown"]

MOST_SHOWN = 20  # rows
_MOST_CHANGES = 6  # that are listed of a row
_HEAD = ("row", "status", "cost", "what to change")
_LEFT, _RIGHT = "text-align: left; vertical-align: top", "text-align: right; vertical-align: top"


def shown(title: str, notices: Sequence[Notice], n: int) -> str:
    """Return a table of the first recourses; everything that comes from the data is escaped.

    Parameters
    ----------
    title : str
        What stands above it.
    notices : sequence of Notice
        The first recourses.
    n : int
        How many there are.
    """
    head = "".join(f'<th style="{_LEFT}">{name}</th>' for name in _HEAD)
    body = "".join(f"<tr>{_cells(notice)}</tr>" for notice in notices)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if notices else ""
    left = n - len(notices)
    more = f"<p>and {left:,} more; <code>to_frame()</code> has them all.</p>" if left else ""
    return f"<div><p><b>{escape(printable(title))}</b></p>{table}{more}</div>"


def _cells(notice: Notice) -> str:
    option = f", option {notice.rank}" if notice.rank > 1 else ""
    cost = amount(notice.cost) if np.isfinite(notice.cost) else ""
    texts = [f"{label_text(notice.label)}{option}", notice.status, cost, changes_text(notice)]
    styles = [_LEFT, _LEFT, _RIGHT, _LEFT]
    return "".join(
        f'<td style="{style}">{escape(printable(words))}</td>' for style, words in zip(styles, texts, strict=True)
    )


def changes_text(notice: Notice) -> str:
    """Say what to change, the first columns of many only; or why there is nothing to say."""
    if not notice.changes:
        return "nothing" if notice.valid else printable(notice.reason)
    listed = ["".join(phrase) for phrase in phrases(notice)[: len(notice.changes)]]
    more = len(listed) - _MOST_CHANGES
    told = "; ".join(listed[:_MOST_CHANGES]) + (f"; and {more} more" if more > 0 else "")
    return told if notice.valid else f"refused: {told}"
