"""Models that make trouble, where workers can find them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


class Plain:
    """Accepts who has a large first column."""

    least = 15.0

    def predict(self, X):
        self.happens(np.asarray(X)[:, 0])
        return (np.asarray(X)[:, 0] > self.least).astype(int)

    def happens(self, values):
        """Do what goes wrong with these values."""


class Slow(Plain):
    """Takes its time until a file is there."""

    def __init__(self, flag, seconds):
        self.flag, self.seconds = str(flag), seconds

    def happens(self, values):
        if len(values) and not Path(self.flag).exists():
            time.sleep(self.seconds)


class Poison(Plain):
    """Kills the process that asks about a value, unless that is the one that made it."""

    def __init__(self, value):
        self.value, self.home = value, os.getpid()

    def happens(self, values):
        if self.value in values and os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)


class Hanging(Plain):
    """Does not come back from a question about a value."""

    def __init__(self, value):
        self.value, self.home = value, os.getpid()

    def happens(self, values):
        if self.value in values and os.getpid() != self.home:
            time.sleep(600.0)
