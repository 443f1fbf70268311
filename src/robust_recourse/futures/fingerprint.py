"""Names for functions that train: the same for the same code on the same values."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

import joblib

__all__ = ["fingerprint"]


def fingerprint(function: Any) -> str:
    """Return a name for what a function does.

    It tells apart functions of different code, and of different defaults, variables that are closed over and globals
    that are read. Functions of the same module that are called are looked into, those of other modules are known by
    their names alone.
    """
    return str(joblib.hash(_facts(function, function, ())))


def _facts(value: Any, asked: Any, above: tuple[Any, ...]) -> Any:
    """Return what is to be hashed in place of a value; `asked` is the function whose name is wanted."""
    if any(value is other for other in above):
        return "itself"
    within = (*above, value)
    if isinstance(value, functools.partial):
        return ["partial", _facts([value.func, value.args, value.keywords], asked, within)]
    if isinstance(value, types.MethodType):
        return ["method", _facts(value.__func__, asked, within), _hashed(value.__self__)]
    if isinstance(value, types.FunctionType):
        if value.__module__ != _module(asked):
            return _named(value)
        used = [value.__defaults__, value.__kwdefaults__, *_closed_over(value), *_globals(value)]
        return ["function", _code(value.__code__), _facts(used, asked, within)]
    if isinstance(value, types.ModuleType | type):
        return _named(value)
    if isinstance(value, tuple | list):
        return [_facts(part, asked, within) for part in value]
    if isinstance(value, dict):
        return [[_hashed(key), _facts(part, asked, within)] for key, part in value.items()]
    if value is asked:
        return ["object", _facts(type(value).__call__, asked, within), _hashed(value)]
    return _hashed(value)


def _code(code: types.CodeType) -> list[Any]:
    constants = [_code(value) if isinstance(value, types.CodeType) else value for value in code.co_consts]
    return [code.co_code, code.co_names, code.co_varnames, constants]


def _closed_over(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            yield "nothing"


def _globals(function: types.FunctionType) -> list[Any]:
    return [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]


def _names(code: types.CodeType) -> list[str]:
    nested = (name for value in code.co_consts if isinstance(value, types.CodeType) for name in _names(value))
    return sorted({*code.co_names, *nested})


def _module(value: Any) -> str | None:
    while isinstance(value, functools.partial):
        value = value.func
    module = getattr(value, "__module__", None)
    return module if module is not None else type(value).__module__


def _named(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"


def _hashed(value: Any) -> str:
    try:
        return str(joblib.hash(value))
    except Exception:  # whatever its pickling raises
        return f"a {type(value).__qualname__}"
