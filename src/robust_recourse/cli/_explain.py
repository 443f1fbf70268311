"""``robust-recourse explain``."""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._files import replacing
from robust_recourse.checkpoints import Store
from robust_recourse.cli._batches import Batches
from robust_recourse.cli._criterion import Criterion, add_criterion, described, retrained
from robust_recourse.cli._many import add_cluster, explain_many, is_many
from robust_recourse.cli._methods import add_max_changes, add_set, add_unseen, fingerprint, fitted
from robust_recourse.cli._model import add_decision, read_file, read_trainable
from robust_recourse.cli._options import (
    add_running,
    blaming,
    need_folder,
    need_other_file,
    positive_integer,
    positive_number,
)
from robust_recourse.cli._outcomes import Labelled, read_labelled
from robust_recourse.cli._parts import Parts
from robust_recourse.cli._printing import print_line, print_table
from robust_recourse.cli._recording import add_recording, check_recording, ledger_file, record
from robust_recourse.cli._scenarios import add_scenarios
from robust_recourse.cli._settings import chosen
from robust_recourse.cli._tables import add_raw, add_reading, need_table, read_people, read_training, write_table
from robust_recourse.cli._wording import in_options
from robust_recourse.methods.doubts import check_unseen, doubt_favourable
from robust_recourse.methods.registry import METHODS
from robust_recourse.models.predictor import ModelError
from robust_recourse.notices.explorer import check_explorer
from robust_recourse.notices.folder import NoticeFolder
from robust_recourse.notices.writing import check_locale
from robust_recourse.result import Recourses
from robust_recourse.search.earlier import read_earlier
from robust_recourse.tables import Table

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands

__all__ = ["add_to"]

_MOST_CHANGED = 5
_ASKED = {"mean share of guiding models": ("jury_share", "mean"), "survival at least": ("survival_bound", "min")}
_EXAMPLE = """\
example:
  robust-recourse actions train.csv --label outcome      # then edit actions.toml
  robust-recourse explain --model model.skops --train train.csv --refused refused.csv --label outcome \\
      --actions actions.toml --favourable approved --out recourses.csv --html notices
  robust-recourse explain ... --jury 20 --quorum 0.9 --outcome outcome --survival 0.9    # ask retrained models, too
  robust-recourse explain ... --refused 'refused/*.parquet' --out recourses/ --scheduler local    # millions of people

What is finished is kept in a folder beside the file of --out until everything is: a command that was interrupted
continues there when it is run again. Retrained models are pickles, sealed with a key of this user: those that somebody
else wrote are not opened. Exit codes: 0 if all went well, 2 for input that cannot be used or any other failure, 130
when interrupted, 143 when terminated; of a data set, 1 if some files or parts could not be explained."""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "explain",
        help="find recourses for the refused rows of a table",
        description="Find recourses for people whom a model refuses, in the units of your tables: what to change so\n"
        "that the model accepts, and what is likely to be enough for the next model, too.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    needed = parser.add_argument_group("needed")
    for option, what in (
        ("--model", "the model: .skops or .onnx; .joblib, .pickle or .pkl with --trust-pickle"),
        ("--train", "table of training rows: how they are recorded, and where accepted people are"),
        ("--actions", "what a person may change, as 'robust-recourse actions' writes it"),
    ):
        needed.add_argument(option, type=Path, required=True, metavar="FILE", help=what)
    for option, what in (
        ("--refused", "table of the people to explain; a folder or a pattern for a data set of any size"),
        ("--out", "table of recourses to write, .csv or .parquet; a folder for a data set"),
    ):
        needed.add_argument(option, required=True, metavar="FILE", help=what)
    more = parser.add_argument_group("more results")
    more.add_argument("--html", type=Path, metavar="FOLDER", help="write a notice for each person, and a summary")
    more.add_argument(
        "--explorer",
        type=Path,
        metavar="FOLDER",
        help="write a page on which people compare their plans, to be opened without a server",
    )
    more.add_argument(
        "--overwrite", action="store_true", help="replace files in these folders, also those that no earlier run wrote"
    )
    more.add_argument(
        "--locale", metavar="NAME", help="write numbers, currencies and dates of the notices as in de_DE or en_GB"
    )
    add_raw(more)
    more.add_argument("--json", type=Path, metavar="FILE", help="write everything as one JSON document")
    add_decision(parser)
    add_criterion(parser)
    add_scenarios(parser)
    _add_search(parser)
    add_cluster(parser)
    add_recording(parser)
    add_reading(parser)
    parser.set_defaults(run=_run)


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the search")
    group.add_argument("--method", choices=METHODS, help="how to search (default: robust, or that of --settings)")
    group.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="method and parameters, as 'robust-recourse tune' writes them for a promised future validity",
    )
    add_set(group, "a parameter of the method, such as delta_plus=0.5, also in place of one of --settings")
    group.add_argument(
        "--n-recourses", type=positive_integer, default=1, metavar="N", help="recourses for a person (default: 1)"
    )
    add_max_changes(group)
    group.add_argument(
        "--earlier",
        type=Path,
        metavar="FILE",
        help="what the same people were told before, as --json wrote it: told again where nothing better is found",
    )
    add_unseen(group)
    group.add_argument(
        "--time-limit",
        type=positive_number,
        metavar="SECONDS",
        help="stop after so long; people are explained in order, and those who are left have a status that says so",
    )
    add_running(group)


def _run(arguments: argparse.Namespace) -> int:
    arguments.method, parameters, settings = chosen(arguments.method, arguments.settings, arguments.set)
    criterion = Criterion.of(arguments, settings)
    many = is_many(arguments)
    parts = _check_files(arguments, many=many)
    model, data = _read(arguments, criterion)
    people = None if many else read_people(arguments.refused, arguments, data.X)
    method = fitted(arguments, {**parameters, "margin": criterion.margin}, data.X, model)
    if criterion.jury is not None:
        with parts.keeping():
            jury = retrained(criterion, arguments, data, model, parts.folder)
        with blaming(f"{arguments.model} with the rows of {arguments.train}"):
            method.set_params(jury=jury).fit(data.X)
    if people is None:
        code = explain_many(method, arguments)
        if arguments.folder is None and not code:
            parts.forget()
        return code
    with blaming(arguments.refused):
        table = method.schema_.read(people, "the table", fewest=0)
    check_unseen(method.seen_, table, f"{arguments.refused} (rows are counted from 0)", arguments.unseen)
    earlier, told = _earlier(arguments, method, table)
    store = Store(arguments.out.with_name(f"{arguments.out.name}.partial"))
    key = fingerprint(arguments, {**parameters, **criterion.facts(arguments), **told})
    batches = Batches(people, str(arguments.refused), store, key, earlier)
    with store.writing():
        try:
            found = batches.explain(method, arguments.n_recourses, arguments.time_limit)
        except ModelError as error:
            raise ValueError(f"{arguments.model}: {error} (Rows are counted from 0.)") from error
        doubt_favourable(found, arguments.favourable)
        found = replace(found, reason=np.array([in_options(reason) for reason in found.reason], dtype=object))
        record(found, arguments, method)
        written = _write(found, arguments, method, data.X)
        batches.forget()
    if arguments.folder is None:
        parts.forget()
    _print(found, arguments.refused)
    if method.jury is not None:
        print_line(described(method.jury, arguments.folder))
    for what, path in written.items():
        print_line(f"{what}: {path}")
    if store.pieces():
        print_line(f"Left: {store.folder} keeps recourses of another command; remove it if nobody continues that.")
    return 0


def _read(arguments: argparse.Namespace, criterion: Criterion) -> tuple[Any, Labelled]:
    """Read the model and the training rows, with outcomes if there is something to retrain."""
    if criterion.jury is None:
        return read_file(arguments), Labelled(read_training(arguments.train, arguments), None)
    model = read_trainable(arguments, "ask a jury in Python with robust_recourse.Jury.retrain, which")
    arguments.label = list(dict.fromkeys([*arguments.label, arguments.outcome]))  # the model does not get it either
    return model, read_labelled(arguments.train, arguments, model)


def _earlier(arguments: argparse.Namespace, method: Any, table: Table) -> tuple[Recourses | None, dict[str, str]]:
    """Read what people were told before, and what names it; fails before all work if these are other people."""
    if arguments.earlier is None:
        return None, {}
    with blaming(arguments.earlier):
        earlier = Recourses.from_json(arguments.earlier)
        read_earlier(method, table, earlier)
    return earlier, {"earlier": hashlib.blake2b(arguments.earlier.read_bytes()).hexdigest()}


def _check_files(arguments: argparse.Namespace, *, many: bool) -> Parts:
    """Fail before all work for what can be told from names and folders; return where models are kept."""
    for path in (arguments.train, arguments.new, *(() if many else (arguments.refused, arguments.out))):
        if path is not None:
            need_table(path)
    outputs = {} if many else {"--out": arguments.out, "--json": arguments.json}
    for option, path in outputs.items():
        if path is not None:
            need_other_file(option, path, [ledger_file(arguments)])
    check_recording(arguments)
    if many:
        return Parts(arguments.folder or Path(f"{arguments.out.rstrip('/')}.parts"))
    inputs = [
        getattr(arguments, name) for name in ("model", "train", "refused", "actions", "settings", "new", "earlier")
    ]
    need_other_file("--out", arguments.out, inputs)
    if arguments.json is not None:
        need_other_file("--json", arguments.json, inputs)
        if arguments.json.resolve() == arguments.out.resolve():
            raise ValueError(f"--json {arguments.json} is the file of --out, too. Name another one.")
    if arguments.html is not None:
        need_folder(arguments.html)
        if not arguments.overwrite:
            NoticeFolder(arguments.html).check()
    if arguments.locale is not None:
        if arguments.html is None:
            raise ValueError("--locale is about notices: name their folder with --html.")
        check_locale(arguments.locale)
    if arguments.explorer is not None:
        need_folder(arguments.explorer)
        if arguments.html is not None and arguments.html.resolve() == arguments.explorer.resolve():
            raise ValueError(f"--explorer {arguments.explorer} is the folder of --html, too. Name another one.")
        if not arguments.overwrite:
            check_explorer(arguments.explorer)
    if arguments.folder is not None:
        need_folder(arguments.folder)
    return Parts(arguments.folder or arguments.out.with_name(f"{arguments.out.name}.parts"))


def _write(found: Recourses, arguments: argparse.Namespace, method: Any, rows: Any) -> dict[str, Path]:
    write_table(_table(found), arguments.out, arguments.separator, raw=arguments.raw_csv)
    written = {"Recourses": arguments.out}
    if arguments.json is not None:
        with replacing(arguments.json) as path:
            found.to_json(path)
        written["JSON"] = arguments.json
    if arguments.html is not None:
        found.to_html_files(arguments.html, locale=arguments.locale, overwrite=arguments.overwrite)
        written["Notices"] = arguments.html / "index.html"
    if arguments.explorer is not None:
        asked = {"model": method.model, "jury": method.jury, "rows": rows}
        written["Explorer"] = found.to_explorer(arguments.explorer, **asked, overwrite=arguments.overwrite)
    return written


def _table(found: Recourses) -> pd.DataFrame:
    """Return the recourses with the names of the people as the first column."""
    frame = found.to_frame()
    name = "row" if frame.index.name is None else str(frame.index.name)
    while frame.index.name is None and name in frame.columns:
        name = f"{name}_"
    # The names of people keep theirs, as columns of the table do; what we know about recourses makes way.
    return frame.rename(columns={name: f"recourse_{name}"}).rename_axis(index=name).reset_index()


def _print(found: Recourses, refused: Path) -> None:
    if not len(found):
        print_line(f"{refused} has no people to explain.")
        return
    first = found.rank == 1
    told = ("valid", "cost", "jury_share", "survival_bound")
    people = pd.DataFrame({"status": found.status.astype(str), **{name: getattr(found, name) for name in told}})[first]
    everybody = people.assign(status="all")
    asked = {name: by for name, by in _ASKED.items() if people[by[0]].notna().any()}
    rows = [
        {
            "status": status,
            "people": len(group),
            "accepted today": f"{group['valid'].mean():.0%}",
            "median cost": float(group["cost"].median()),
            **{name: float(group[column].agg(how)) for name, (column, how) in asked.items()},
        }
        for table in (people, everybody)
        for status, group in table.groupby("status")
    ]
    print_table(pd.DataFrame(rows), f"The people of {refused}")
    if found._survival:
        print_line(found._survival)
    changed = found.changes()["column"].value_counts().head(_MOST_CHANGED)
    if len(changed):
        shown = pd.DataFrame({"column": changed.index.astype(str), "recourses": changed.to_numpy()})
        print_table(shown, "Changed most often")
