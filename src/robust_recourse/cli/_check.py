"""``robust-recourse check``: the gate that a new model has to pass."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse._files import write_atomically
from robust_recourse.cli._model import add_decision, favourable_of, read_file
from robust_recourse.cli._options import blaming, need_other_file, share
from robust_recourse.cli._printing import need_output, print_line, print_table
from robust_recourse.cli._recording import add_head, add_ledger, as_table, ledger_file, open_ledger
from robust_recourse.cli._tables import add_raw, add_reading, named, need_table, read_table, read_training, write_table
from robust_recourse.models.predictor import ModelError
from robust_recourse.result.future import Share

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands
    from robust_recourse.ledger import Additions, Check, Ledger, Threshold

__all__ = ["add_to"]

_EXAMPLE = """\
example:
  robust-recourse check --ledger promises.db --model new.skops --name "scorecard 2027-01" --at-least 0.98 \\
      --html check.html --json check.json

The ledger is verified first. Exit codes: 0 if at least this share of the open promises is kept, or if there is none;
1 if not; 2 if that could not be checked: the ledger does not add up or cannot be read, the clock is wrong, the model
does not answer, or not all results could be written."""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check",
        help="ask a new model about all open promises of a ledger",
        description="Ask a new model whether it accepts what people were promised, before it goes live.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    needed = parser.add_argument_group("needed")
    add_ledger(needed, required=True)
    needed.add_argument(
        "--model", type=Path, required=True, metavar="FILE", help="the new model, in a file as for 'explain'"
    )
    needed.add_argument(
        "--at-least",
        type=share,
        required=True,
        metavar="SHARE",
        help="the share of open promises to be kept, such as 0.98",
    )
    parser.add_argument("--name", help="what to call the new model (default: the name of its file)")
    add_head(parser)
    parser.add_argument("--dry-run", action="store_true", help="record nothing in the ledger")
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="COLUMN",
        help="compare people by a column; may be given several times",
    )
    more = parser.add_argument_group("more results")
    more.add_argument("--html", type=Path, metavar="FILE", help="write a page for an auditor")
    more.add_argument("--json", type=Path, metavar="FILE", help="write the numbers, and whose promises are broken")
    more.add_argument(
        "--honour", type=Path, metavar="FILE", help="write the broken promises, to be honoured anyway; .csv or .parquet"
    )
    add_raw(more)
    more.add_argument(
        "--train",
        type=Path,
        metavar="FILE",
        help="training rows of the new model: find what the broken promises would need, with the method that promised",
    )
    more.add_argument(
        "--others",
        type=Path,
        metavar="FILE",
        help="other applicants: find the highest threshold that keeps the share, and how many decisions that changes",
    )
    more.add_argument(
        "--current",
        type=Path,
        metavar="FILE",
        help="present rows of people, named by --id: put the promised changes on these",
    )
    add_decision(parser)
    add_reading(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    need_output()
    _check_files(arguments)
    model, ledger = read_file(arguments), open_ledger(arguments)
    _need_groups(arguments, ledger)
    current = None if arguments.current is None else _current(arguments, ledger.columns())
    try:
        check = ledger.check(
            model,
            name=arguments.name or arguments.model.stem,
            current=current,
            favourable=... if arguments.favourable is None else favourable_of(arguments.favourable, model),
            threshold=... if arguments.threshold is None else arguments.threshold,
            dry_run=arguments.dry_run,
            head=arguments.head,
        )
        additions, threshold = _remedies(check, arguments, ledger)
        _print(check, arguments, additions, threshold)
        _write(check, arguments, additions, threshold)
    except (ModelError, TypeError) as error:
        raise ValueError(f"{arguments.model}: {error}") from error
    return 0 if not len(check) or check.share >= arguments.at_least else 1


def _check_files(arguments: argparse.Namespace) -> None:
    """Fail before all work for what can be told from names and folders."""
    for path in (arguments.honour, arguments.train, arguments.others, arguments.current):
        if path is not None:
            need_table(path)
    inputs = [getattr(arguments, name) for name in ("model", "train", "others", "current")]
    inputs.append(ledger_file(arguments))
    outputs: dict[Path, str] = {}
    for option in ("html", "json", "honour"):
        path = getattr(arguments, option)
        if path is not None:
            need_other_file(f"--{option}", path, inputs)
            if other := outputs.get(path.resolve()):
                raise ValueError(f"--{option} {path} is the file of --{other}, too. Name another one.")
            outputs[path.resolve()] = option
    if arguments.current is not None and arguments.id is None:
        raise ValueError("--current needs --id: the column that says whose row it is.")


def _need_groups(arguments: argparse.Namespace, ledger: Ledger) -> None:
    """Fail before anything is recorded if people cannot be compared by a column."""
    known = list(ledger.columns().columns) if arguments.group else []
    for name in arguments.group:
        if known and name not in known:
            raise ValueError(f"The promises have no column {name!r}. They have {', '.join(map(str, known))}.")


def _current(arguments: argparse.Namespace, columns: pd.DataFrame) -> pd.DataFrame:
    frame = read_table(arguments.current, arguments, _texts(columns) | {arguments.id})
    return named(frame, arguments.current, arguments.id)


def _texts(columns: pd.DataFrame) -> set[Any]:
    """Return the columns that hold text, whatever it looks like in a file."""
    held = {
        name: dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        for name, dtype in columns.dtypes.items()
    }
    return {name for name, dtype in held.items() if types.is_string_dtype(dtype)}


def _remedies(check: Check, arguments: argparse.Namespace, ledger: Ledger) -> tuple[Additions | None, Threshold | None]:
    """Find what can be done about broken promises, as far as files were given for it."""
    additions = threshold = None
    if arguments.train is not None and check.n_broken:
        with blaming(arguments.train):
            additions = check.additions(train=read_training(arguments.train, arguments))
    if arguments.others is not None and len(check):
        columns = ledger.columns()
        with blaming(arguments.others):
            others = read_table(arguments.others, arguments, _texts(columns))
            lacking = [name for name in columns.columns if name not in others.columns]
            if lacking:
                raise ValueError(f"it lacks the column {lacking[0]!r} of the promises.")
            threshold = check.threshold(arguments.at_least, others[list(columns.columns)])
    return additions, threshold


def _print(
    check: Check, arguments: argparse.Namespace, additions: Additions | None, threshold: Threshold | None
) -> None:
    print_line(f"The ledger was verified up to its head, {check.head}")
    if not len(check):
        print_line("The ledger has no open promise: there is nothing to break.")
        return
    tables = {"the model that promised": check.by_model(), "month": check.by_month()}
    tables |= {name: check.by_group(name) for name in arguments.group}
    whole = {"": "all", "promises": len(check), "kept": check.n_kept, "broken": check.n_broken}
    lines = [whole | {"share": str(Share(check.share, *check.interval))}]
    for what, frame in tables.items():
        lines += [
            {"": f"{what}: {label}", **{name: int(line[name]) for name in ("promises", "kept", "broken")},
             "share": str(Share(line["share"], line["low"], line["high"]))}
            for label, line in frame.iterrows()
        ]  # fmt: skip
    print_table(pd.DataFrame(lines), f"What {check.name} makes of the open promises")
    print_line(f"In brackets: exact intervals at a level of {100.0 * check.level:.4g} %.")
    if additions is not None:
        extra = additions.to_frame()["extra_cost"].dropna()
        median = f", at a median extra cost of {extra.median():.3g}" if len(extra) else ""
        print_line(f"Of the {check.n_broken:,} broken promises {len(extra):,} could be met with more changes{median}.")
    if threshold is not None:
        print_line(
            f"Threshold {threshold.threshold:.6g} keeps {threshold.share:.1%} of the promises, and changes "
            f"{threshold.changed:,} of {threshold.others:,} other decisions."
        )
    kept = check.share >= arguments.at_least
    print_line(f"Asked: at least {arguments.at_least:.4g} kept. The model {'passes' if kept else 'does not pass'}.")


def _write(
    check: Check, arguments: argparse.Namespace, additions: Additions | None, threshold: Threshold | None
) -> None:
    if arguments.html is not None:
        check.to_html(
            arguments.html,
            additions=additions,
            groups=arguments.group,
            at_least=arguments.at_least,
            threshold=threshold,
        )
        print_line(f"Page: {arguments.html}")
    if arguments.json is not None:
        data = check.to_dict(tuple(arguments.group)) | {"at_least": arguments.at_least}
        data["passes"] = bool(not len(check) or check.share >= arguments.at_least)
        if threshold is not None:
            data["threshold"] = asdict(threshold) | {"changed": threshold.changed}
        write_atomically(arguments.json, json.dumps(data, indent=2, default=_plain) + "\n")
        print_line(f"JSON: {arguments.json}")
    if arguments.honour is not None:
        write_table(as_table(check.honour(additions)), arguments.honour, arguments.separator, raw=arguments.raw_csv)
        print_line(f"To honour anyway: {arguments.honour}")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
