"""Data sets of any size: Parquet in, Parquet out, in one process or on a cluster of Dask; nothing is computed twice."""

from robust_recourse.cluster.dataset import PART_ROWS, explain_dataset
from robust_recourse.cluster.errors import ClusterLostError, IncompleteError, OtherJobError
from robust_recourse.cluster.frames import explain_frame
from robust_recourse.cluster.progress import Tally
from robust_recourse.cluster.training import fit_dataset, retraining_on
from robust_recourse.cluster.validating import validate_dataset

__all__ = [
    "PART_ROWS",
    "ClusterLostError",
    "IncompleteError",
    "OtherJobError",
    "Tally",
    "explain_dataset",
    "explain_frame",
    "fit_dataset",
    "retraining_on",
    "validate_dataset",
]
