"""The ledger: what was promised, to whom, under which model, and whether a new model keeps it.

Needs the extra ``ledger``: ``pip install 'robust-recourse[ledger]'``.
"""

try:
    import sqlalchemy as _sqlalchemy  # noqa: F401
except ImportError as _error:
    raise ImportError("The ledger needs SQLAlchemy: pip install 'robust-recourse[ledger]'") from _error

from robust_recourse.ledger.chain import Head
from robust_recourse.ledger.check import Check
from robust_recourse.ledger.errors import LedgerClockError, LedgerDamagedError, LedgerError, LedgerUnavailableError
from robust_recourse.ledger.fulfilling import Fulfilment
from robust_recourse.ledger.ledger import Ledger
from robust_recourse.ledger.receipts import Receipt
from robust_recourse.ledger.recording import Recorded
from robust_recourse.ledger.remedies import Additions, Threshold
from robust_recourse.ledger.verifying import Flaw

__all__ = [
    "Additions",
    "Check",
    "Flaw",
    "Fulfilment",
    "Head",
    "Ledger",
    "LedgerClockError",
    "LedgerDamagedError",
    "LedgerError",
    "LedgerUnavailableError",
    "Receipt",
    "Recorded",
    "Threshold",
]
