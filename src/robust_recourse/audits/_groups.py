"""Which group every person belongs to."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.notices.values import column_text, label_text, text
from robust_recourse.result import Recourses
from robust_recourse.tables import to_pandas

__all__ = ["MISSING", "Groups", "read_groups"]

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Groups:
    """The people of every group.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Number of the group of each person.
    labels : tuple
        The labels of the groups, in order; that of people without one is "(missing)", and last.
    name : str
        What the labels say about people, such as "sex"; "" if that is not known.
    """

    codes: IntArray
    labels: tuple[Hashable, ...]
    name: str = ""

    def number(self, label: Hashable) -> int:
        """Return the number of the group with a label, given as the argument `reference`."""
        if label not in self.labels:
            known = ", ".join(repr(known) for known in self.labels)
            raise ValueError(f"reference must be the label of a group, one of {known}; got {label!r}.")
        return self.labels.index(label)

    def words(self, k: int) -> str:
        """Name a group in a sentence, such as "sex 'female'" or "group 'women'"."""
        label = self.labels[k]
        words = label_text(label) if label == MISSING or not isinstance(label, str) else text(label, quoted=True)
        return f"{self.name or 'group'} {words}"

    def people(self, k: int) -> str:
        """Name the people of a group in a sentence, such as "people with sex 'female'"."""
        return f"people {'with' if self.name else 'in'} {self.words(k)}"


def read_groups(found: Recourses, groups: Any) -> Groups:
    """Return the group of every person, from labels in the order of the people or from a column of the instances."""
    first = found.rank == 1
    table = to_pandas(found.x0)
    framed = isinstance(table, pd.DataFrame)
    columns, index = pd.DataFrame(table).reset_index(drop=True), table.index if framed else pd.Index(found.person)
    name: Hashable | None = None
    if pd.api.types.is_scalar(groups) or (isinstance(groups, tuple) and groups in list(columns)):
        if groups not in list(columns):
            known = ", ".join(repr(column) for column in columns)
            raise ValueError(
                f"groups must be one label for each person or the name of a column, but there is no column {groups!r} "
                f"in found.x0. Its columns are {known}."
            )
        name, labels = groups, pd.Series(columns[groups])[first]
    else:
        labels = _given(groups, int(first.sum()), index[first])
        name = labels.name
    return _numbered(labels, "" if name is None or name == "" else column_text(name))


def _given(groups: Any, n_people: int, index: pd.Index[Any]) -> pd.Series[Any]:
    """Check labels that were given one by one."""
    given = to_pandas(groups)
    if not isinstance(given, pd.Series):
        if np.ndim(given) != 1:
            raise ValueError(
                f"groups must be one-dimensional, with one label for each person; got {type(groups).__name__} with "
                f"{np.ndim(given)} dimensions."
            )
        given = pd.Series(given if isinstance(given, np.ndarray | pd.Categorical) else list(given))
    if len(given) != n_people:
        raise ValueError(
            f"groups must have one label for each of the {n_people} people who were explained, got {len(given)}. From "
            "a larger table take the labels of these people only."
        )
    same = isinstance(groups, pd.Series) and index.is_unique and given.index.is_unique
    if same and not given.index.equals(index) and given.index.isin(index).all():
        raise ValueError(
            "groups has the labels of found.x0 in another order. Pass groups.loc[found.x0.index] if they say whose "
            "label it is, or groups.to_numpy() if the order does."
        )
    return given


def _numbered(labels: pd.Series[Any], name: str) -> Groups:
    missing = labels.isna().to_numpy()
    known = labels[~missing]
    try:
        if isinstance(labels.dtype, pd.CategoricalDtype):
            order = [label for label in labels.cat.categories if (known == label).any()]
        else:
            order = list(dict.fromkeys(known.tolist()))
            order = _in_order(order)
        places = {label: k for k, label in enumerate(order)}
    except TypeError as error:
        raise TypeError(f"groups must be labels that can be compared, such as text or numbers: {error}.") from error
    if missing.any():
        places.setdefault(MISSING, len(places))
    cells = labels.astype(object).where(~missing, MISSING)
    codes = np.array([places[label] for label in cells.tolist()], dtype=np.int64)
    return Groups(codes, tuple(places), name)


def _in_order(labels: list[Any]) -> list[Any]:
    """Sort the labels; what cannot be sorted stays in the order in which it occurs."""
    try:
        return sorted(labels)
    except TypeError:
        return labels
