"""What a jury is made of: models, which are kept as such, and the rest as plain data."""

from __future__ import annotations

from typing import Any

from robust_recourse.futures import Juror, Jury

__all__ = ["jury_of", "models_of", "settings_of"]

_SETTINGS = ("quorum", "margin", "rule", "survival", "confidence")
_GROUPS = ("models", "check")
_DECIDES = ("favourable", "threshold")


def models_of(jury: Jury) -> dict[str, list[Any] | None]:
    """Return the models of a jury, and those of its check."""
    groups = {name: getattr(jury, name) for name in _GROUPS}
    return {
        name: None if models is None else [model.model if isinstance(model, Juror) else model for model in models]
        for name, models in groups.items()
    }


def settings_of(jury: Jury) -> dict[str, Any]:
    """Return everything else, for :func:`jury_of`."""
    settings = {name: getattr(jury, name) for name in _SETTINGS}
    own = {name: [_decides(model) for model in getattr(jury, name) or ()] for name in _GROUPS}
    return {**settings, "decides": own}


def jury_of(settings: dict[str, Any], models: dict[str, Any]) -> Jury:
    """Put a jury together again."""
    decides = settings["decides"]
    groups: dict[str, Any] = {
        name: None
        if models[name] is None
        else [Juror(model, **own) if own else model for model, own in zip(models[name], decides[name], strict=True)]
        for name in _GROUPS
    }
    return Jury(**groups, **{name: settings[name] for name in _SETTINGS})


def _decides(juror: Any) -> dict[str, Any]:
    if not isinstance(juror, Juror):
        return {}
    return {name: value for name in _DECIDES if (value := getattr(juror, name)) is not ...}
