"""The recourses of a batch, and what is told about them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse import notices
from robust_recourse._files import write_atomically
from robust_recourse.result import document, parquet, reading
from robust_recourse.result._showing import MOST_SHOWN, shown
from robust_recourse.result._told import Told
from robust_recourse.result.frames import frame_of
from robust_recourse.result.future import FutureValidity, measure_future_validity

__all__ = ["Recourses"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Recourses(Told):
    """The recourses of a batch: ``found[i]`` is one, slices, masks and lists of positions give several.

    There is one entry for every row that was explained, or several if several were asked for: those of a person stand
    together, the cheapest first.

    Attributes
    ----------
    x, boundary : ndarray of shape (n, p) or DataFrame
        Recourses and boundary points, frames if frames were explained. Where there is none, all cells are missing.
        The types are those of `x0`; those that hold no gap are the nullable ones of pandas, whether there is a gap
        or not.
    cost, budget, log_worst_case_odds : ndarray of shape (n,)
        See :class:`Recourse`; NaN where they are not defined.
    valid : ndarray of bool, shape (n,)
        Whether the present model accepts each row of `x`.
    status : ndarray of Status, shape (n,)
        How each search ended.
    reason : ndarray of str, shape (n,)
        The same in a sentence.
    n_queries : ndarray of int, shape (n,)
        Rows that the model was asked for.
    jury_share : ndarray of shape (n,)
        Share of the models that guided the search, the jury, that accept exactly each row of `x`; NaN without a jury.
        It is no survival: the rows were chosen so that these models accept them.
    survival_bound : ndarray of shape (n,)
        Lower bound for the share of models like those of the jury's check that accept it, at the jury's confidence;
        NaN without a check: then survival was not measured.
    x0 : ndarray of shape (n, p) or DataFrame
        The instances as they were given, beside `x`.
    person : ndarray of int, shape (n,)
        Position of each instance among those that were explained, or among those of a selection.
    rank : ndarray of int, shape (n,)
        Number of the recourse among those of the person, from 1.
    column_costs : ndarray of shape (n, p)
        What the change of every column costs, in the order of the columns of `x`; NaN where there is no recourse.
    kinds : tuple of str
        What every column of `x` holds: "number", "category", "ordered" or "fixed".
    orders : mapping
        The ordered categories, lowest first, by column.
    units, digits : mapping
        Units in which values are told, as the action set names them, and digits behind the point of numbers, by column.
    favourable, threshold
        What the method that found them was told about the model's decision.
    provenance : Provenance, tuple of Provenance or None
        Which version, method, settings and model made them; several if batches of several were joined.
    """

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in pd.Series(self.status).value_counts().items())
        survival = f". {self._survival}" if self._survival else ""
        return f"Recourses({len(self)} rows{f': {counts}' if counts else ''}{survival})"

    def _repr_html_(self) -> str:
        return shown(repr(self), self._notices(range(min(len(self), MOST_SHOWN))), len(self))

    def to_frame(self) -> pd.DataFrame:
        """Return one table of pandas: the columns of `x`, then what is known about each entry.

        If a person has several recourses, the columns `person` and `rank` say whose each one is. A column of `x` that
        has one of these names keeps it; ours then starts with ``recourse_``. Without a column `survival_bound`,
        survival was not measured; `jury_share` is about the models that guided the search.
        """
        return frame_of(self, several=self._several)

    def changes(self) -> pd.DataFrame:
        """Return one line for every column that a recourse changes: row, column, from, to and cost.

        The row is the label of the index, or the position in an array. If a person has several recourses, the column
        `rank` tells them apart. Values are as in the tables: integers stay integers and categories stay what they are.
        Entries without a recourse have no line.
        """
        table = notices.list_changes(self._notices(), self.labels)
        return table if self._several else table.drop(columns="rank")

    def describe(
        self, i: int | None = None, *, names: Mapping[Hashable, str] | None = None, locale: str | None = None
    ) -> str:
        """Say in plain sentences what to change, what the present model says to it, what survives, and what it costs.

        Parameters
        ----------
        i : int, optional
            Number of the entry, as in ``found[i]``; without it every entry is described in a line that begins with
            its label.
        names : mapping, optional
            What to call columns, where their names in the table say too little.
        locale : str, optional
            Whose signs numbers, currencies and dates are written with, such as ``"de_DE"``; needs the extra
            ``locale``. None: commas between thousands, and dates as 2026-01-31.

        Returns
        -------
        str
            What to change to is written with all its digits: read back, it is the value in `x`. A value of the person
            with more digits than are told of its column is told as being about so much.

        Examples
        --------
        >>> import numpy as np
        >>> from robust_recourse import NearestAccepted
        >>> accept = lambda X: X[:, 0] - 0.1 * X[:, 1] > 1000.0
        >>> method = NearestAccepted(accept).fit(np.array([[2050.0, 24.0], [900.0, 36.0]]))
        >>> found = method.explain(np.array([[1200.0, 24.0], [1000.0, 36.0], [3000.0, 6.0]]))
        >>> print(found.describe(1, names={0: "savings", 1: "duration"}))
        Raise savings from 1,000 to 2,050; lower duration from 36 to 24. The present model accepts exactly these values.
        Survival was not measured. The cost is 1,062 units.
        """
        if i is None:
            return notices.describe_all(self._notices(names=names, locale=locale))
        if not isinstance(i, int | np.integer):
            raise TypeError(f"i must be a position, as in found.describe(0), not a label; got {i!r}.")
        if not -len(self) <= i < len(self):
            raise IndexError(f"i must be the position of one of the {len(self)} entries, got {i}.")
        return self[i].describe(names=names, locale=locale)

    def future_validity(
        self,
        models: Any,
        *,
        favourable: Any = ...,
        threshold: float | EllipsisType | None = ...,
        level: float = 0.95,
    ) -> FutureValidity:
        """Ask models that may replace the present one whether they accept the recourses.

        Parameters
        ----------
        models : sequence of models
            Retrained models, for instance of :func:`robust_recourse.future_models`: then there is a line for each
            scenario, too.
        favourable, threshold
            As the recourse methods take them, the same for all models; what the method was told if left out.
        level : float
            Level of the intervals.

        Returns
        -------
        FutureValidity
            Shares with intervals: overall, by scenario and for every person. A row without a recourse counts as not
            accepted.

        Examples
        --------
        >>> import numpy as np
        >>> from robust_recourse import NearestAccepted
        >>> method = NearestAccepted(lambda X: X[:, 0] > 0.0).fit(np.array([[0.5], [1.5], [-1.0]]))
        >>> found = method.explain(np.array([[-1.0], [-2.0], [2.0]]))
        >>> later = [lambda X, least=least: X[:, 0] > least for least in np.linspace(0.0, 0.625, 10)]
        >>> found.future_validity(later)
        Future validity of 3 people under 10 models
                      people  models         future validity
          all models       3      10  0.867 (0.197 to 1.000)
          In brackets: intervals at a level of 95 %.
        """
        return measure_future_validity(self, models, favourable, threshold, level)

    def to_json(self, path: str | PathLike[str] | None = None, *, indent: int | None = 2) -> str:
        """Return everything as one JSON document; :meth:`json_schema` says what is in it.

        Missing values are null, dates are text in ISO 8601, and what else JSON has no word for is text. The part
        `exact` is for :meth:`from_json` only.

        Parameters
        ----------
        path : path-like, optional
            File to write the document to.
        indent : int or None
            Spaces of a level; None: everything in one line.
        """
        text = document.written(document.document_of(self), indent)
        if path is not None:
            write_atomically(Path(path), text)
        return text

    @staticmethod
    def from_json(source: str | PathLike[str]) -> Recourses:
        """Read what :meth:`to_json` wrote: a result that equals the one that was written, but for its traces.

        Frames of pandas and polars, and arrays, come back as what they were.

        Parameters
        ----------
        source : str or path-like
            The document, or the file that holds it.

        Raises
        ------
        ValueError
            If it is no such document, or was changed; the message says what is wrong.
        """
        return Recourses(**reading.fields_of(reading.parsed(reading.text_of(source))))

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (draft 2020-12) of :meth:`to_json`."""
        return document.json_schema()

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write a Parquet file: the table of :meth:`to_frame` for everybody, and the result in its metadata.

        Columns and labels that Parquet has no type for are text in the table. Needs the extra ``parquet``.
        """
        parquet.write_parquet(path, self)

    @staticmethod
    def from_parquet(path: str | PathLike[str]) -> Recourses:
        """Read what :meth:`to_parquet` wrote: a result that equals the one that was written, but for its traces.

        Frames of pandas and polars, and arrays, come back as what they were. A folder of such files, as
        :func:`robust_recourse.cluster.explain_dataset` writes it, is read as one result.

        Raises
        ------
        ValueError
            If the file was not written by :meth:`to_parquet`, or was changed; the message says what is wrong.
        """
        read = [parquet.read_parquet(file) for file in parquet.files_of(path)]
        parts = [Recourses(**fields) for fields, _ in read]
        found = parts[0] if len(parts) == 1 else Recourses.concat(parts)
        parquet.check_table(path, found, pd.concat([table for _, table in read]) if len(read) > 1 else read[0][1])
        return found

    @property
    def _several(self) -> bool:
        return bool((self.rank > 1).any())
