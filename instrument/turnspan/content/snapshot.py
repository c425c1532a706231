"""Freezing: a structural copy of what a call saw, cheap enough for the calling thread.

Callers mutate their message lists *and* the dictionaries inside them after the call, so containers
are copied at every depth; strings, numbers and bytes are immutable and shared. Nothing is hashed,
dumped or validated here. Pydantic models (SDK response objects, which people append to their
message lists as they are) are read through ``__dict__``: the fields that were set, by their wire
names, without a pydantic dump.
"""

from __future__ import annotations

import dataclasses
from typing import Any, cast

_SHARED = frozenset({str, int, float, bool, type(None), bytes})
_MAX_DEPTH = 64
_MAX_REPR = 2_000


def freeze(value: Any, depth: int = 0) -> Any:
    """Return a copy of ``value`` made of dicts, lists and shared scalars.

    Deeper than 64 levels (or in a cycle) a marker string stands instead. Objects of unknown types
    become a short text. Raises whatever a hostile object's own methods raise; callers guard.
    """
    kind = type(value)
    if kind in _SHARED:
        return value
    if kind is dict:
        if depth > _MAX_DEPTH:
            return "<too deep>"
        depth += 1
        return {
            k: v if type(v) in _SHARED else freeze(v, depth)
            for k, v in cast("dict[str, Any]", value).items()
        }
    if kind is list or kind is tuple:
        if depth > _MAX_DEPTH:
            return "<too deep>"
        depth += 1
        return [v if type(v) in _SHARED else freeze(v, depth) for v in cast("list[Any]", value)]
    return _freeze_other(value, depth)


def _freeze_other(value: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return "<too deep>"
    kind: type[Any] = type(value)
    fields_set = getattr(kind, "model_fields", None)
    if fields_set is not None and hasattr(kind, "__pydantic_fields_set__"):
        return _freeze_model(value, depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: freeze(getattr(value, f.name), depth + 1) for f in dataclasses.fields(value)
        }
    return _freeze_unusual(value, depth)


def _freeze_model(model: Any, depth: int) -> dict[str, Any]:
    names = model.__pydantic_fields_set__
    fields = type(model).model_fields
    frozen: dict[str, Any] = {}
    for key, item in model.__dict__.items():
        if key in names:
            alias = fields[key].alias if key in fields else None
            frozen[alias or key] = item if type(item) in _SHARED else freeze(item, depth)
    extra = model.__pydantic_extra__
    if extra:
        for key, item in extra.items():
            frozen[key] = item if type(item) in _SHARED else freeze(item, depth)
    return frozen


def _freeze_unusual(value: Any, depth: int) -> Any:
    if isinstance(value, (str, bytes, bool, int, float)):
        return value  # a subclass: enum members with str, numpy scalars that are floats, ...
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {k: freeze(v, depth + 1) for k, v in items}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [freeze(v, depth + 1) for v in cast("list[Any]", value)]
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    text = repr(value)
    return text if len(text) <= _MAX_REPR else text[:_MAX_REPR] + "..."


class FrozenOnce:
    """Freezes what is the same on every call (tool definitions) once, and shares the copy.

    Equal values get the identical frozen object, so that whoever hashes it can do so once. An
    equality check in C costs less than a copy, and holds against changes made in place.
    """

    def __init__(self, limit: int = 64) -> None:
        self._limit = limit
        self._known: dict[tuple[int, int], Any] = {}

    def freeze(self, value: Any) -> Any:
        """A frozen copy of a list, shared with earlier calls that gave an equal one."""
        if type(value) is not list or not value:
            return freeze(value)
        items: list[Any] = value
        key = (len(items), _shape(items))
        known = self._known.get(key)
        if known is not None and known == items:
            return known
        frozen = freeze(items)
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[key] = frozen
        return frozen


def _shape(items: list[Any]) -> int:
    """A cheap hint that tells two catalogues apart; equality decides."""
    first = items[0]
    if type(first) is not dict:
        return 0
    named: dict[Any, Any] = first
    inner: Any = named.get("function", named)
    return hash(inner.get("name")) if type(inner) is dict else 0
