"""``robust-recourse ledger``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from robust_recourse._files import write_atomically
from robust_recourse.cli._options import need_file, need_other_file, need_report, positive_integer
from robust_recourse.cli._printing import print_line, print_table
from robust_recourse.cli._recording import add_head, add_ledger, as_table, ledger_file, open_ledger
from robust_recourse.cli._tables import add_raw, need_table, write_table

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands

__all__ = ["add_to"]

_STATUSES = ("open", "fulfilled", "withdrawn", "expired", "renewed")
_SHOWN = ["person", "status", "made", "until", "model", "cost"]


def add_to(commands: Commands) -> None:
    """Add the command and its parts."""
    parser = commands.add_parser(
        "ledger",
        help="look at promises, verify them, export them, forget a person",
        description="Look at the promises of a ledger. Exit codes: 0 if all went well, 1 if 'verify' finds an entry\n"
        "that does not add up, 2 for input that cannot be used or any other failure.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    listing = _part(parts, "list", "list promises", _list)
    _add_status(listing)
    listing.add_argument("--most", type=positive_integer, default=50, help="how many, the first ones (default: 50)")
    _add_person(_part(parts, "show", "show everything that is kept about a person, as JSON", _show))
    verify = _part(parts, "verify", "find entries that were altered, removed or added", _verify)
    add_head(verify)
    export = _part(parts, "export", "write promises to a file", _export)
    export.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=".csv or .parquet: a table; .json: everything"
    )
    _add_status(export)
    add_raw(export)
    _add_person(_part(parts, "forget", "erase a person's data, for good; a tombstone stays", _forget))
    clock = _part(parts, "clock", "record why this machine's clock is right, though far from the last entry", _clock)
    clock.add_argument("--reason", required=True, help="such as 'no promise was made for two years'")
    timeline = _part(parts, "timeline", "draw promises made, kept, broken and ended, by month", _timeline)
    timeline.add_argument("--out", type=Path, required=True, metavar="FILE", help="the picture: .png, .svg or .pdf")


def _part(parts: Any, name: str, what: str, run: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parts.add_parser(name, help=what, description=f"{what[:1].upper()}{what[1:]}.")
    add_ledger(parser, required=True)
    parser.set_defaults(run=run)
    return parser


def _add_person(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("person", metavar="ID", help="the id of the person")


def _add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", choices=_STATUSES, help="only promises of which this has become (default: all)")


def _list(arguments: argparse.Namespace) -> int:
    ledger = open_ledger(arguments)
    counts = ledger.counts()
    print_table(
        pd.DataFrame({"status": list(counts), "promises": list(counts.values())}), f"The promises of {ledger.name}"
    )
    frame = ledger.promises(arguments.status, most=arguments.most)
    if len(frame):
        own = frame.iloc[:, [0, *range(-9, 0)]] if frame.shape[1] > 10 else frame
        named = {str(name).removeprefix("recourse_"): own[name] for name in own.columns}
        shown = pd.DataFrame({name: named[name] for name in _SHOWN})
        shown["made"] = [str(made)[:10] for made in shown["made"]]
        print_table(shown, "The first of them" if len(frame) == arguments.most else "All of them")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    print_line(json.dumps(open_ledger(arguments).history(arguments.person), indent=2, ensure_ascii=False))
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    ledger = open_ledger(arguments)
    flaws = ledger.verify(arguments.head)
    if flaws:
        print_table(pd.DataFrame(flaws, columns=["entry", "why"]), f"{ledger.name}: entries that do not add up")
        return 1
    head = ledger.head
    print_line(f"{ledger.name}: all {head.number:,} entries add up.")
    print_line(f"Keep the head elsewhere to prove it later: {head}")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    ledger, out = open_ledger(arguments), arguments.out
    need_other_file("--out", out, [ledger_file(arguments)])
    if out.suffix.lower() == ".json":
        told = ledger.history(status=arguments.status)
        write_atomically(out, json.dumps(told, indent=2) + "\n")
        n = len(told)
    else:
        need_table(out)
        frame = ledger.promises(arguments.status)
        n = len(frame)
        write_table(as_table(frame), out, ",", raw=arguments.raw_csv)
    print_line(f"{n:,} promises: {out}")
    return 0


def _forget(arguments: argparse.Namespace) -> int:
    n = open_ledger(arguments).forget(arguments.person)
    print_line(f"Erased what {n:,} {'entry' if n == 1 else 'entries'} had of this person. The chain still verifies.")
    return 0


def _clock(arguments: argparse.Namespace) -> int:
    ledger = open_ledger(arguments)
    print_line(f"Recorded as entry {ledger.confirm_clock(reason=arguments.reason):,}. The ledger can be used again.")
    return 0


def _timeline(arguments: argparse.Namespace) -> int:
    need_report("The timeline")
    from robust_recourse._files import replacing
    from robust_recourse.report.figures import draw_timeline

    need_file(arguments.out)
    suffix = arguments.out.suffix.lower().removeprefix(".")
    if suffix not in ("png", "svg", "pdf"):
        raise ValueError(f"{arguments.out}: a picture ends in .png, .svg or .pdf.")
    figure = draw_timeline(open_ledger(arguments).timeline())
    with replacing(arguments.out) as path:
        figure.savefig(path, format=suffix)
    print_line(f"Timeline: {arguments.out}")
    return 0
