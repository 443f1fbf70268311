"""Starts commands quickly, and lets something happen to them at a certain moment.

Everything is imported once; every command is then a fork of this process. Requests come as lines of JSON on standard
input, and what becomes of the commands goes to standard output. Moments are counted in steps of the command on files of
its folder: a file that is opened to write, moved, removed or made.
"""

import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback

import alembic.command
import alembic.config  # noqa: F401
import matplotlib.figure  # noqa: F401
import sklearn.linear_model  # noqa: F401
import skops.io  # noqa: F401

import robust_recourse.ledger
import robust_recourse.paper.reproduce
import robust_recourse.report.figures  # noqa: F401
from robust_recourse.cli import main

_STEPS = {"os.rename": 0, "os.remove": 0, "os.mkdir": 0, "open": 0}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Moments:
    """Counts steps, and lets happen what was asked for."""

    def __init__(self, request):
        self.folder, self.happening, self.at = os.path.realpath(request["folder"]), request["happening"], request["at"]
        self.kept, self.pieces = os.path.join(self.folder, request["kept"]), request["pieces"]
        self.count, self.errno, self.happened = 0, request["errno"], False

    def __call__(self, event, arguments):
        if event not in _STEPS or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if not path.startswith(self.folder + os.sep) or (event == "open" and not arguments[2] & _WRITES):
            return
        self.count += 1
        if self.happening == "full":
            # A full disk stays full; to remove a file is always possible.
            if self.count >= self.at and event != "os.remove":
                raise OSError(self.errno, os.strerror(self.errno), arguments[0])
        elif self.happening and not self.happened and self._now():
            self.happened = True
            if self.happening == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            with open(os.path.join(self.folder, "..", "waits"), "w"):
                pass
            while not os.path.exists(os.path.join(self.folder, "..", "go")):
                time.sleep(0.01)

    def _now(self):
        if not self.pieces:
            return self.count == self.at
        return os.path.isdir(self.kept) and sum(n.endswith(".piece") for n in os.listdir(self.kept)) >= self.pieces


def warm_up():
    """Do once what every command would do again."""
    from robust_recourse._provenance import source

    source()


def tell(message):
    """Write a line for whoever started this."""
    sys.__stdout__.write(json.dumps(message) + "\n")
    sys.__stdout__.flush()


def run(request):
    """Be the command: this never returns."""
    code = 99
    try:
        folder = os.path.realpath(request["folder"])
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            handle = os.open(request["said"] + "." + name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(handle, number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for target, value in request["patches"].items():
            module, _, name = target.rpartition(".")
            setattr(importlib.import_module(module), name, eval(value))
        if "largest" in request:
            # Every write beyond so many bytes fails, in the middle of a file, as on a full disk.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest"], request["largest"]))
        moments = Moments(request)
        sys.addaudithook(moments)
        if "code" in request:
            exec(request["code"], {})
            code = 0
        else:
            code = main(request["command"])
        with open(request["said"] + ".steps", "w") as file:
            file.write(str(moments.count))
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if request["jobs"]:
            sys.exit(code)  # to end its helpers is a part of the command
        os._exit(code)  # to take everything down takes longer than most commands


def serve():
    """Start what is asked for, and say what became of it."""
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], 0.01)
        if ready:
            line = sys.stdin.readline()
            if not line:
                return
            process = os.fork()
            if not process:
                run(json.loads(line))
            tell({"started": process})
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            continue
        if process:
            tell({"ended": process, "code": os.waitstatus_to_exitcode(status)})


def tune_quickly():
    """Leave few configurations, so that tuning takes no second; only here: pytest imports this file, too."""
    for module in [module for name, module in sys.modules.items() if name.startswith("robust_recourse.tuning")]:
        if hasattr(module, "FAMILIES"):
            module.FAMILIES = module.FAMILIES[:1]


if __name__ == "__main__":
    tune_quickly()
    warm_up()
    tell({"ready": True})
    serve()
