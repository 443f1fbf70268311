"""``robust-recourse serve``."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from robust_recourse.cli._ending import Terminated
from robust_recourse.cli._options import at_least, positive_integer, positive_number
from robust_recourse.cli._printing import print_line
from robust_recourse.cli._recording import add_ledger
from robust_recourse.cli._tables import add_reading, read_people

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands
    from robust_recourse.service import Settings
    from robust_recourse.tables import Schema

__all__ = ["add_to", "worker"]

_ARGUMENTS = "ROBUST_RECOURSE_SERVE"
_EXAMPLE = """\
example:
  robust-recourse serve method.zip --ledger promises.db
  curl -s http://127.0.0.1:8000/v1/schema

The page for people is at http://127.0.0.1:8000/, the description of the calls at /docs. SIGTERM finishes what has
begun; SIGHUP reads method, tokens and people again."""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "serve",
        help="answer applicants over HTTP, and show them the page",
        description="Serve a method that was saved with robust_recourse.save. Needs the extra 'service'.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_options(parser)
    parser.set_defaults(run=_serve)


def worker() -> Any:
    """Return the application of a worker, which was told what to serve by the process that started it."""
    from robust_recourse.service import make_app
    from robust_recourse.service.running import follow_supervisor, log_lines, with_metrics

    parser = argparse.ArgumentParser()
    _add_options(parser)
    follow_supervisor()
    log_lines()
    return make_app(with_metrics(_settings(parser.parse_args(json.loads(os.environ[_ARGUMENTS])))))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("method", type=Path, metavar="METHOD", help="the method, as robust_recourse.save writes it")
    parser.add_argument("--name", help="what the ledger and the page call the model (default: the name of the file)")
    parser.add_argument(
        "--trust", action="append", default=[], metavar="TYPE", help="a type that the model in the file may have"
    )
    where = parser.add_argument_group("where and for whom")
    where.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s, this machine only)")
    where.add_argument("--port", type=_port, default=8000, help="where to listen (default: %(default)s)")
    where.add_argument(
        "--tokens", type=Path, metavar="FILE", help="tokens, one on each line; needed unless the host is this machine"
    )
    where.add_argument("--workers", type=positive_integer, default=1, metavar="N", help="processes (default: 1)")
    limits = parser.add_argument_group("limits")
    limits.add_argument(
        "--time-limit",
        type=positive_number,
        default=30.0,
        metavar="SECONDS",
        help="of one search, whatever a request asks for (default: %(default)g)",
    )
    limits.add_argument(
        "--queue",
        type=positive_integer,
        default=256,
        metavar="N",
        help="requests that wait in a worker before others are told to come back later (default: %(default)s)",
    )
    for part, default in (("head", 10.0), ("body", 30.0)):
        limits.add_argument(
            f"--{part}-limit",
            type=positive_number,
            default=default,
            metavar="SECONDS",
            help=f"time for the {part} of a request to arrive (default: %(default)g)",
        )
    limits.add_argument(
        "--connections",
        type=positive_integer,
        default=1000,
        metavar="N",
        help="most connections of a worker; fewer if its limit on descriptors is lower (default: %(default)s)",
    )
    promises = parser.add_argument_group("promises")
    add_ledger(promises, required=False)
    promises.add_argument(
        "--promise-days",
        type=at_least(0),
        default=180,
        metavar="DAYS",
        help="how long a promise holds at most (default: %(default)s)",
    )
    people = parser.add_argument_group("people")
    people.add_argument(
        "--people", type=Path, metavar="FILE", help="a table of people, whose values the page shows in the background"
    )
    people.add_argument("--allow-search", action="store_true", help="let those who may ask search this table")
    add_reading(parser)


def _port(text: str) -> int:
    value = at_least(0)(text)
    if value >= 2**16:
        raise argparse.ArgumentTypeError(f"must be 0 to 65535, got {text}")
    return value


def _serve(arguments: argparse.Namespace) -> int:
    from robust_recourse.service import serve
    from robust_recourse.service.counter import Counter
    from robust_recourse.service.metrics import Metrics
    from robust_recourse.service.running import need_address
    from robust_recourse.service.tokens import Tokens

    settings = _settings(arguments)
    # What cannot be served is told now, and not by workers that come and go.
    if settings.tokens is not None:
        Tokens.read(settings.tokens)
    need_address(settings.host, settings.port)
    Counter.open(settings, Metrics()).close()
    os.environ[_ARGUMENTS] = json.dumps(_words(arguments))
    print_line(f"Serving {settings.name}: http://{_shown(settings.host)}:{settings.port}/ (Ctrl-C ends it)")
    with suppress(Terminated):  # it was told to end, and has finished what had begun
        serve(settings, "robust_recourse.cli._serve:worker")
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from robust_recourse.service import Settings
    from robust_recourse.service.settings import Most

    if arguments.allow_search and arguments.people is None:
        raise ValueError("--allow-search needs --people: a table to be searched.")
    return Settings(
        method=arguments.method,
        name=arguments.name or arguments.method.stem,
        ledger=arguments.ledger,
        tokens=arguments.tokens,
        host=arguments.host,
        port=arguments.port,
        workers=arguments.workers,
        trusted=tuple(arguments.trust),
        people=None if arguments.people is None else partial(_people, arguments),
        search=arguments.allow_search,
        promise_days=arguments.promise_days,
        most=Most(
            time_limit=arguments.time_limit,
            waiting=arguments.queue,
            connections=arguments.connections,
            head_seconds=arguments.head_limit,
            body_seconds=arguments.body_limit,
        ),
    )


def _people(arguments: argparse.Namespace, schema: Schema) -> pd.DataFrame:
    """Read the table of people, with the columns of the training rows."""
    if schema.names is None:
        raise ValueError("--people needs a method that was fitted with a table that has names of columns.")
    cells = zip(schema.names, schema.dtypes, strict=True)
    columns = pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in cells})
    return read_people(arguments.people, argparse.Namespace(**vars(arguments), train=arguments.method), columns)


def _words(arguments: argparse.Namespace) -> list[str]:
    """Return arguments as the words of a command."""
    words = [str(arguments.method)]
    for name, value in vars(arguments).items():
        if name in ("method", "run") or value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        values = value if isinstance(value, list) else [value]
        words += [option] if value is True else [f"{option}={one}" for one in values]
    return words


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
