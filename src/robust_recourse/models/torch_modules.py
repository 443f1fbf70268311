"""Modules of torch as models: arrays in, probabilities or scores and gradients out.

Torch is never imported here: whoever has a module has imported it already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.special import logit

from robust_recourse._typing import FloatArray
from robust_recourse.models.verdicts import Verdicts

__all__ = ["HINT", "ask", "is_module", "scores"]

HINT = (
    " The outputs of a torch module are taken as probabilities of the favourable class: add a sigmoid (or a softmax "
    "over the columns) as its last layer, or wrap it, as in torch.nn.Sequential(module, torch.nn.Sigmoid()). If they "
    "are scores, pass threshold=."
)


def is_module(model: Any) -> bool:
    """Whether `model` is a torch module that is called, that is, one without a ``predict`` of its own."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return False
    return not any(callable(getattr(model, name, None)) for name in ("predict", "predict_proba"))


def ask(module: Any, X: Any) -> Any:
    """Return the outputs of the module for the rows of an array or a frame, as an array."""
    torch = sys.modules["torch"]
    with _evaluation(module), torch.no_grad():
        return _array(module(_tensor(module, X)))


def scores(module: Any, X: Any, read: Callable[[Any], Verdicts]) -> tuple[FloatArray, FloatArray]:
    """Return the scores that the outputs of the module mean, and their gradients.

    Where the probability is 0 or 1 to the last bit the log odds are those of the nearest number that is neither,
    and their gradient is 0.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    X : array_like of shape (m, p)
        Rows.
    read : callable
        Says what an array of outputs means, and raises for outputs that mean nothing.
    """
    torch = sys.modules["torch"]
    rows = _tensor(module, X).requires_grad_(True)
    with _evaluation(module), torch.enable_grad():
        answer = module(rows)
        verdicts = read(_array(answer))
        outputs = answer.reshape(len(rows), -1)
        outputs = outputs if outputs.is_floating_point() else outputs.to(rows.dtype)
        own = outputs[:, verdicts.column]
        limits = torch.finfo(own.dtype)
        if verdicts.scale == "score":
            value, level = verdicts.sign * own, verdicts.level
        elif verdicts.scale == "rival":
            others = torch.arange(outputs.shape[1], device=outputs.device) != verdicts.column
            rival = outputs[:, others].max(dim=1).values
            value, level = torch.log(own.clamp(min=limits.tiny)) - torch.log(rival.clamp(min=limits.tiny)), 0.0
        else:
            own = own.clamp(limits.tiny, 1.0 - limits.eps)
            # In this order the factor p (1 - p) of a sigmoid cancels before it can underflow.
            value, level = verdicts.sign * (torch.log(own) - torch.log1p(-own)), logit(verdicts.level)
        # A module that decides by comparisons has no gradient anywhere.
        smooth = value.requires_grad
        gradient = torch.autograd.grad(value.sum(), rows, allow_unused=True)[0] if smooth else None
        gradient = torch.zeros_like(rows) if gradient is None else gradient
    return _array(value) - level, _array(gradient)


def _tensor(module: Any, X: Any) -> Any:
    torch = sys.modules["torch"]
    numbers = (*module.parameters(), *module.buffers())
    like = next((tensor for tensor in numbers if tensor.is_floating_point()), torch.empty(0))
    # A copy: a module that works in place shall change nothing of ours.
    return torch.tensor(np.asarray(X, dtype=float), dtype=like.dtype, device=like.device)


def _array(tensor: Any) -> Any:
    if not hasattr(tensor, "detach"):
        return np.asarray(tensor)
    tensor = tensor.detach()
    return (tensor.double() if tensor.is_floating_point() else tensor).cpu().numpy()


@contextmanager
def _evaluation(module: Any) -> Iterator[None]:
    """Switch off what is random or learns from the batch; parts that were training go on training afterwards."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True
