"""Run the benchmarks, or those that are named: what was asked and measured; exit with 1 if a number is missed."""

import sys

import browser
import certify
import explain
import german
import imports
import ledgers
import lookup
import many
import memory
import mixed
import promise
import scaling
import services
import solvers
from rich.console import Console
from rich.table import Table

ENTRIES = {
    "explain": explain,
    "mixed": mixed,
    "german": german,
    "promise": promise,
    "certify": certify,
    "solvers": solvers,
    "lookup": lookup,
    "scaling": scaling,
    "memory": memory,
    "imports": imports,
    "ledger": ledgers,
    "many": many,
    "service": services,
    "page": browser,
}
# Some minutes each: only those that are named are run.
LONG = {"million": ledgers.million, "people": many.million, "load": services.load_test}


def main(names):
    console, missed = Console(), 0
    table = Table("measure", "asked", "measured", "")
    for name in names or ENTRIES:
        console.print(f"{name} ...", style="dim")
        for label, asked, value, ok in (LONG[name] if name in LONG else ENTRIES[name].run)():
            shown = f"{value:.3g}" if isinstance(value, float) else str(value)
            table.add_row(label, asked, shown, "" if ok is None else "ok" if ok else "MISSED")
            missed += ok is False
    console.print(table)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
