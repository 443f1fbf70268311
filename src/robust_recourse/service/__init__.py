"""The counter: a service that answers one applicant in a moment.

Needs the extra ``service``: ``pip install 'robust-recourse[service]'``.
"""

try:
    import fastapi as _fastapi  # noqa: F401
    import prometheus_client as _prometheus_client  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as _error:
    raise ImportError("The service needs FastAPI and uvicorn: pip install 'robust-recourse[service]'") from _error

from robust_recourse.service.app import make_app
from robust_recourse.service.running import serve
from robust_recourse.service.settings import Settings
from robust_recourse.service.tokens import Tokens

__all__ = ["Settings", "Tokens", "make_app", "serve"]
