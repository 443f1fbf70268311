"""Finished work, kept until everything is: whole or not there, one writer at a time, and checked before it is used."""

from robust_recourse.checkpoints.lock import InUseError, holding
from robust_recourse.checkpoints.rows import rows_fingerprint
from robust_recourse.checkpoints.store import CheckpointWarning, Store

__all__ = ["CheckpointWarning", "InUseError", "Store", "holding", "rows_fingerprint"]
