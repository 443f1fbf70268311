"""What is counted, for Prometheus; nothing of it is about a person."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sized
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from robust_recourse.result import Recourses

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_PEOPLE = (1, 2, 4, 8, 16, 32, 64, 256, 1024)
_PREFIX = "robust_recourse"


class Metrics:
    """The metrics of a worker; those of all workers are told together.

    Parameters
    ----------
    folder : Path or None
        Where workers keep them; None for an application alone. It must be in the environment as
        ``PROMETHEUS_MULTIPROC_DIR`` before this module is imported.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            f"{_PREFIX}_requests", "Requests that were answered.", ["route", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            f"{_PREFIX}_request_seconds", "How long requests took.", ["route"], buckets=_SECONDS, registry=registry
        )
        self.model_rows = Counter(f"{_PREFIX}_model_rows", "Rows that the model was asked about.", registry=registry)
        self.statuses = Counter(
            f"{_PREFIX}_recourses", "Recourses by the status of their search.", ["status"], registry=registry
        )
        self.together = Histogram(
            f"{_PREFIX}_people_together", "People who were searched for together.", buckets=_PEOPLE, registry=registry
        )
        self._waiting = Gauge(
            f"{_PREFIX}_waiting", "Requests that wait.", ["lane"], registry=registry, multiprocess_mode="livesum"
        )
        self.open = Gauge(
            f"{_PREFIX}_open", "Requests that are being answered.", registry=registry, multiprocess_mode="livesum"
        )
        self._lanes: Mapping[str, Sized] = {}

    def watch(self, lanes: Mapping[str, Sized]) -> None:
        """Tell how many requests wait in these lanes."""
        self._lanes = lanes

    def searched(self, found: Recourses, people: int) -> None:
        """Count what came of a search."""
        self.model_rows.inc(float(found.n_queries.sum()))
        self.together.observe(people)
        for status, n in Tally(map(str, found.status)).items():
            self.statuses.labels(status).inc(n)

    def told(self) -> bytes:
        """Return everything as text."""
        for name, lane in self._lanes.items():
            self._waiting.labels(name).set(len(lane))
        if self._folder is None:
            return bytes(generate_latest(self._registry))
        everybody = CollectorRegistry()
        MultiProcessCollector(everybody, path=str(self._folder))  # type: ignore[no-untyped-call]
        return bytes(generate_latest(everybody))
