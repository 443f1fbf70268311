"""The kinds of values that a fitted method holds, and how each is written."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.actions import ActionSet
from robust_recourse.actions.consequences import Effect, Follow, Reach
from robust_recourse.actions.moves import Moves
from robust_recourse.actions.rules import Rule
from robust_recourse.math.limits import Limits
from robust_recourse.math.odds import Scales
from robust_recourse.tables import Column, Schema, Seen, plain
from robust_recourse.tables.foreign import native
from robust_recourse.tables.plain import Kind, exactly

__all__ = ["KINDS"]

_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def _pack_schema(schema: Schema) -> dict[str, Any]:
    parts: dict[str, Any] = {"columns": schema.columns, "names": schema.names, "dtypes": schema.dtypes, "native": None}
    if schema._native is not None:
        # A frame without rows knows the types of the other library.
        empty = schema._native(pd.DataFrame(columns=schema.names))
        parts["native"] = None if isinstance(empty, pd.DataFrame) else empty
    return parts


def _unpack_schema(parts: dict[str, Any]) -> Schema:
    empty = parts.pop("native")
    return Schema(**parts, _native=None if empty is None else native(empty))


def _unpack_actions(settings: dict[str, Any]) -> ActionSet:
    schema = settings.pop("schema")
    actions = ActionSet(**settings)
    actions.schema = schema
    return actions


def _pack_generator(generator: np.random.Generator) -> dict[str, Any]:
    return dict(generator.bit_generator.state)


def _unpack_generator(state: dict[str, Any]) -> np.random.Generator:
    if state["bit_generator"] not in _GENERATORS:
        raise ValueError(f"it holds a random generator of the unknown type {state['bit_generator']!r}")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)


def _is_generator(value: Any) -> bool:
    return type(value) is np.random.Generator and type(value.bit_generator).__name__ in _GENERATORS


def _unpack_random_state(state: dict[str, Any]) -> np.random.RandomState:
    random_state = np.random.RandomState()
    random_state.set_state(state)
    return random_state


def _dataclass(name: str, kind: type) -> Kind:
    names = [field.name for field in fields(kind) if field.init]
    return Kind(
        name, exactly(kind), lambda value: {key: getattr(value, key) for key in names}, lambda parts: kind(**parts)
    )


KINDS: tuple[Kind, ...] = (
    *plain.KINDS,
    Kind("generator", _is_generator, _pack_generator, _unpack_generator),
    Kind(
        "random state",
        exactly(np.random.RandomState),
        lambda value: dict(value.get_state(legacy=False)),
        _unpack_random_state,
    ),
    Kind("schema", exactly(Schema), _pack_schema, _unpack_schema),
    Kind("actions", exactly(ActionSet), lambda value: dict(vars(value)), _unpack_actions),
    Kind("scales", exactly(Scales), list, lambda parts: Scales(*parts)),
    _dataclass("column", Column),
    _dataclass("seen", Seen),
    _dataclass("moves", Moves),
    _dataclass("limits", Limits),
    _dataclass("rule", Rule),
    _dataclass("reach", Reach),
    _dataclass("follow", Follow),
    _dataclass("effect", Effect),
)
