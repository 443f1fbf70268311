"""Runs an experiment part by part; what is finished is never run again."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from robust_recourse._files import part_key
from robust_recourse._progress import track
from robust_recourse._provenance import commit, source, versions
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.metrics import accepted_by, distances, future_validity
from robust_recourse.paper.bench.cases import Case, load_rows, prepare
from robust_recourse.paper.bench.classifiers import make_classifier
from robust_recourse.paper.bench.encoding import learn_encoding
from robust_recourse.paper.bench.juries import JurySetting, sizes
from robust_recourse.paper.bench.results import ResultFolder
from robust_recourse.paper.bench.spec import METHODS, Configuration, Experiment, SpecError

__all__ = ["make_method", "model_folder", "run"]


class _Part(NamedTuple):
    """One piece of work: `make`, with what all parts of a case begin with and `arguments`, gives the rows to keep."""

    key: str
    make: Callable[..., pd.DataFrame]
    arguments: tuple[Any, ...]


def run(
    experiment: Experiment,
    out: Path,
    *,
    n_jobs: int | None = None,
    table_format: str = "csv",
    cache: Path | None = None,
) -> pd.DataFrame:
    """Run what is not finished yet and return the table of all results.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    out : Path
        Folder for the parts, the table ``results.csv`` (or ``.parquet``) and ``provenance.json``.
    n_jobs : int, optional
        Number of processes.
    table_format : str
        ``"csv"`` or ``"parquet"``.
    cache : Path, optional
        Folder for trained models; by default ``cache`` in `out`. Experiments may share it.

    Returns
    -------
    DataFrame
        For methods, one row for each data set, seed, configuration and instance; for classifiers, one for each data
        set, seed, half of the data and fold.
    """
    folder = ResultFolder(out, table_format)
    _check(experiment)
    with folder.parts.writing():
        return _run(experiment, folder, model_folder(out / "cache" if cache is None else cache), n_jobs)


def _run(experiment: Experiment, folder: ResultFolder, models: Path, n_jobs: int | None) -> pd.DataFrame:
    started, clock = datetime.now(UTC), time.perf_counter()
    hashes: dict[str, dict[str, str]] = {}
    parts: list[_Part] = []
    fresh = 0
    for name in experiment.datasets:
        for seed in experiment.seeds:
            data = load_rows(name, experiment.options.get(name, {}), seed)
            hashes[name] = dict(data.hashes)
            facts = (versions(), source(), name, experiment.options.get(name, {}), hashes[name], seed)
            of_case = list((_scoring if experiment.folds else _explaining)(experiment, facts))
            missing = [part for part in of_case if folder.read_part(part.key) is None]
            if missing:
                arguments = _arguments(experiment, name, seed, models, n_jobs)
                title = f"{name}, seed {seed}" if len(experiment.seeds) > 1 else name
                _finish(missing, arguments, folder, title, n_jobs)
            fresh += len(missing)
            parts += of_case
    # Read also where they were made now: a table is the same, whenever its parts were finished.
    table = folder.write_table([part.key for part in parts])
    folder.write_provenance(
        {
            "title": experiment.title,
            "experiment": asdict(experiment),
            "versions": versions(),
            "commit": commit(),
            "source": source(),
            "data": hashes,
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - clock, 1),
            "parts": {"run now": fresh, "run before": len(parts) - fresh},
        }
    )
    return table


def model_folder(cache: Path) -> Path:
    """Return the folder for trained models; other versions or other code have another."""
    return cache / part_key(versions(), source())


def _check(experiment: Experiment) -> None:
    """Fail now, not in the middle of the work: every data set can be read, every parameter is in range."""
    for name in experiment.datasets:
        data = load_rows(name, experiment.options.get(name, {}), experiment.seeds[0])
        fewest = min(np.bincount(y, minlength=2).min() for y in (data.y1, data.y2))
        if fewest < max(experiment.folds, 2):
            raise SpecError(
                f"{name} has a class with {fewest} rows, too few for {experiment.folds or 'a split in two'}"
                f"{' folds' * bool(experiment.folds)}. Use more rows, or fewer folds."
            )
    for configuration in experiment.configurations:
        try:
            METHODS[configuration.method](None, **_plain(configuration)).check_parameters()
        except (TypeError, ValueError, NotImplementedError) as error:
            raise SpecError(f"{configuration.method} with {dict(configuration.parameters)}: {error}") from error


def _arguments(experiment: Experiment, name: str, seed: int, models: Path, n_jobs: int | None) -> tuple[Any, ...]:
    """Return what all parts of a data set and a seed begin with."""
    if experiment.folds:
        return experiment, name, seed
    options = experiment.options.get(name, {})
    jurors = sizes([configuration.parameters for configuration in experiment.configurations])
    case = prepare(name, experiment.setting, seed, options=options, jurors=jurors, folder=models, n_jobs=n_jobs)
    return (case,)


def _finish(
    parts: list[_Part], arguments: tuple[Any, ...], folder: ResultFolder, title: str, n_jobs: int | None
) -> None:
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for _ in track(parallel(delayed(_make)(part, arguments, folder) for part in parts), title, len(parts)):
        pass


def _make(part: _Part, arguments: tuple[Any, ...], folder: ResultFolder) -> None:
    # Written by the process that made it: what is finished stays, whatever happens to the others.
    folder.write_part(part.key, part.make(*arguments, *part.arguments))


def _explaining(experiment: Experiment, facts: tuple[Any, ...]) -> Iterable[_Part]:
    case_key = part_key("case", facts, asdict(experiment.setting))
    for configuration in experiment.configurations:
        yield _Part(part_key(case_key, asdict(configuration)), _explain, (configuration,))


def make_method(case: Case, configuration: Configuration) -> RecourseMethod:
    """Return the method of a configuration for the model of a case."""
    given = _plain(configuration)
    if "jury" in configuration.parameters:
        setting = JurySetting.read(configuration.parameters["jury"])
        given["jury"] = setting.of(case.jurors[setting.scenario])
    return METHODS[configuration.method](case.model, actions=case.actions, random_state=case.seed, **given)


def _plain(configuration: Configuration) -> dict[str, Any]:
    return {name: value for name, value in configuration.parameters.items() if name != "jury"}


def _explain(case: Case, configuration: Configuration) -> pd.DataFrame:
    """Explain the instances of a case with one configuration, and score what comes out."""
    method = make_method(case, configuration)
    try:
        with warnings.catch_warnings():
            # The paper's coding of the data, whatever the scales.
            warnings.filterwarnings("ignore", "The columns of X have very different scales")
            method.fit(case.X_train)
        start = time.perf_counter()
        found = method.explain(case.instances)
        seconds = time.perf_counter() - start
    except Exception as error:
        error.add_note(f"in {configuration.method} with {dict(configuration.parameters)} on {case.dataset}")
        raise
    far = distances(found.x, case.instances)
    return pd.DataFrame(
        {
            "dataset": case.dataset,
            "seed": case.seed,
            "method": configuration.name,
            "variant": configuration.variant,
            "parameters": json.dumps(dict(configuration.parameters), sort_keys=True),
            "row": case.rows,
            "held out": case.held_out,
            "cost": far.l1,
            "l2 cost": far.l2,
            "changes": far.n_changes,
            "current validity": accepted_by(case.model, found.x).astype(float),
            "future validity": future_validity(case.future, found.x),
            "status": [str(status) for status in found.status],
            "model rows": found.n_queries,
            "seconds": seconds / len(case.instances),
        }
    )


def _scoring(experiment: Experiment, facts: tuple[Any, ...]) -> Iterable[_Part]:
    for half in ("D1", "D2"):
        for fold in range(experiment.folds):
            key = part_key("fold", facts, asdict(experiment.setting), half, fold, experiment.folds)
            yield _Part(key, _score, (half, fold))


def _score(experiment: Experiment, name: str, seed: int, half: str, fold: int) -> pd.DataFrame:
    """Train the classifier on all folds of one half of the data but one, and score it on that."""
    data = load_rows(name, experiment.options.get(name, {}), seed)
    X, y = (data.X1, data.y1) if half == "D1" else (data.X2, data.y2)
    folds = StratifiedKFold(experiment.folds, shuffle=True, random_state=seed)
    train, test = list(folds.split(X, y))[fold]
    encoding = learn_encoding(data, X.iloc[train], standardise=experiment.setting.standardise)
    model = make_classifier(experiment.setting.classifier, seed).fit(encoding.encode(X.iloc[train]), y[train])
    probability = model.predict_proba(encoding.encode(X.iloc[test]))[:, 1]
    return pd.DataFrame(
        {
            "dataset": [name],
            "seed": [seed],
            "classifier": [experiment.setting.classifier],
            "data": [half],
            "fold": [fold],
            "accuracy": [np.mean((probability > 0.5) == (y[test] == 1))],
            "auc": [roc_auc_score(y[test], probability)],
        }
    )
