"""Models that are asked in their own way, as objects with ``predict`` or ``predict_proba``, or as callables.

None of their packages is imported here: whoever has such a model has imported it already.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from robust_recourse.models import boosters, onnx_sessions, torch_modules

__all__ = ["adapted"]


def adapted(model: Any, *, smoothly: bool = False) -> Any:
    """Return what is asked instead of the model; the model itself if it needs no adapter.

    Parameters
    ----------
    model : object
        The model.
    smoothly : bool
        Whether it is asked for derivatives, with fractions where it wants whole numbers.
    """
    if torch_modules.is_module(model):
        return partial(torch_modules.ask, model)
    if boosters.is_booster(model):
        return partial(boosters.ask, model)
    if onnx_sessions.is_session(model):
        return onnx_sessions.adapt(model, smoothly=smoothly)
    return model
