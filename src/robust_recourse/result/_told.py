"""Pages about the recourses of a batch."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from robust_recourse import notices
from robust_recourse._files import write_atomically
from robust_recourse._validation import check_choice, check_flag
from robust_recourse.notices.folder import NoticeFolder
from robust_recourse.notices.page import AUDIENCES, Audience
from robust_recourse.result._entries import Entries

__all__ = ["Told"]

_TITLE = "Recourse for refused applications"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Told(Entries):
    """What :class:`robust_recourse.Recourses` tells people: notices, summaries, and the page to find one's own way."""

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str = _TITLE,
        audience: Audience = "both",
        person: int | None = None,
        names: Mapping[Hashable, str] | None = None,
        locale: str | None = None,
        note: str = "",
        when: date | None = None,
    ) -> str:
        """Return a page with a notice for each person and a summary for the analyst.

        The page needs nothing else: no network, no script, no other file. Printed, every notice begins a new page.
        Everything that comes from the table is escaped.

        Parameters
        ----------
        path : path-like, optional
            File to write the page to.
        title : str
            Heading of the page.
        audience : {"both", "applicant", "analyst"}
            Only the notices, only the summary, or both.
        person : int, optional
            Position of the only row to show.
        names, locale
            See :meth:`describe`.
        note : str
            Last paragraph of every notice, such as whom to ask.
        when : date, optional
            The date that the notices bear; today if None.

        Returns
        -------
        str
            The page.
        """
        check_choice(audience, "audience", AUDIENCES)
        rows = None
        if person is not None:
            rows = [int(i) for i in np.flatnonzero(self.person == person)]
            if not rows:
                raise ValueError(f"person must be the position of a row that was explained, got {person!r}.")
        shown = self._notices(rows, names, locale)
        page = notices.page(shown, title=title, audience=audience, when=when or date.today(), note=note)
        if path is not None:
            write_atomically(Path(path), page)
        return page

    def to_html_files(
        self,
        folder: str | PathLike[str],
        *,
        title: str = _TITLE,
        names: Mapping[Hashable, str] | None = None,
        locale: str | None = None,
        note: str = "",
        when: date | None = None,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the notice of every person into a file of its own, and the summary into ``index.html``.

        Parameters
        ----------
        folder : path-like
            Where to write; made if it does not exist. What an earlier call wrote there is replaced or removed, and
            nothing else is touched; a file in it, ``.notices.json``, remembers what that was.
        title, names, locale, note, when
            See :meth:`to_html`.
        overwrite : bool
            Whether other files of the same names may be replaced.

        Returns
        -------
        list of Path
            The notices, in the order of the persons. Their names are made of the labels of the rows.

        Raises
        ------
        FileExistsError
            If there are other files of the same names, and `overwrite` is False.
        """
        return notices.write_pages(
            Path(folder),
            self._notices(names=names, locale=locale),
            title=title,
            when=when or date.today(),
            note=note,
            overwrite=check_flag(overwrite, "overwrite"),
        )

    def to_explorer(
        self,
        folder: str | PathLike[str],
        *,
        title: str = _TITLE,
        model: Any = None,
        jury: Any = None,
        rows: Any = None,
        names: Mapping[Hashable, str] | None = None,
        locale: str | None = None,
        note: str = "",
        when: date | None = None,
        with_notices: bool = True,
        overwrite: bool = False,
    ) -> Path:
        """Write a folder with a page on which people compare their plans, and an analyst looks at everybody.

        It is the page that ``robust-recourse serve`` serves, for reading without a server: open ``index.html``. It asks
        nothing of any network. Everything about all people is in the folder.

        Parameters
        ----------
        folder : path-like
            Where to write; made if it does not exist. What an earlier call wrote there is replaced or removed, and
            nothing else is touched.
        title, names, locale, note, when
            See :meth:`to_html`; the page itself writes numbers in the signs of whoever reads it.
        model : object or callable, optional
            The present model. With it the page says what becomes of the decision after each step of a plan.
        jury : Jury or sequence of models, optional
            Retrained models; with `model` the page also says how many of them accept after each step.
        rows : DataFrame or array_like, optional
            Rows such as the training rows; with `model` the page shows how values of accepted and refused people are
            distributed.
        with_notices : bool
            Whether everybody's notice is written, too, into the folder ``notices``, to be printed from the page.
        overwrite : bool
            Whether other files of the same names may be replaced.

        Returns
        -------
        Path
            The page.

        Raises
        ------
        FileExistsError
            If there are other files of the same names, and `overwrite` is False.
        """
        from robust_recourse.result.explorer import explorer_data

        target, when = Path(folder), when or date.today()
        if not check_flag(overwrite, "overwrite"):
            notices.explorer.check_explorer(target)
        pages: list[Path] = []
        if check_flag(with_notices, "with_notices"):
            told: dict[str, Any] = {"title": title, "names": names, "locale": locale, "note": note, "when": when}
            pages = self.to_html_files(target / "notices", **told, overwrite=overwrite)
        else:
            NoticeFolder(target / "notices").forget()
        data = explorer_data(
            self,
            title=title,
            when=when,
            names=names,
            model=model,
            jury=jury,
            rows=rows,
            notices=[f"notices/{page.name}" for page in pages],
        )
        return notices.explorer.write_explorer(target, data, overwrite=overwrite)

    def _notices(
        self,
        entries: Sequence[int] | None = None,
        names: Mapping[Hashable, str] | None = None,
        locale: str | None = None,
    ) -> list[notices.Notice]:
        chosen = range(len(self)) if entries is None else entries
        if not chosen:
            return []
        labels, odds = self.labels, self.worst_case_odds
        pair = notices.Pair(self.x0, self.x, self.column_costs, self._columns, names or {}, locale)
        rows, writers = pair.rows(chosen), pair.writers()
        return [
            notices.Notice(
                label=labels[i],
                person=int(self.person[i]),
                rank=int(self.rank[i]),
                status=str(self.status[i]),
                reason=str(self.reason[i]),
                valid=bool(self.valid[i]),
                cost=float(self.cost[i]),
                worst_case_odds=float(odds[i]),
                log_worst_case_odds=float(self.log_worst_case_odds[i]),
                **{name: float(value[i]) for name, value in self.consent.items()},
                confidence=self._confidence,
                before=before,
                after=after,
                changes=changes,
                writers=writers,
            )
            for i, (before, after, changes) in zip(chosen, rows, strict=True)
        ]
