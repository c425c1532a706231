"""Freezing: a structural copy of what a call saw, cheap enough for the calling thread.

Callers mutate their message lists *and* the dictionaries inside them after the call, so containers
are copied at every depth; strings, numbers and bytes are immutable and shared. Nothing is hashed,
dumped or validated here. Pydantic models (SDK response objects, which people append to their
message lists as they are) are read through ``__dict__``: the fields that were set, by their wire
names, without a pydantic dump.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import Any, cast

from turnspan.content.shapes import is_dict, is_list

_SHARED = frozenset({str, int, float, bool, type(None), bytes})
_MAX_DEPTH = 64
_SHALLOW = 5
_MAX_DEEP = 20_000
_MAX_REPR = 2_000


class _Deep(threading.local):
    """How many containers below the shallow levels this thread has copied for one value."""

    count = 0


_deep = _Deep()


def freeze(value: Any, depth: int = 0) -> Any:
    """Return a copy of ``value`` made of dicts, lists and shared scalars.

    Deeper than 64 levels a marker string stands instead, and below the fifth level of what turns
    out to be endless (a graph with cycles). Objects of unknown types become a short text. Raises
    whatever a hostile object's own methods raise; callers guard.
    """
    kind = cast("type[object]", type(value))
    if kind in _SHARED:
        return value
    if depth > _SHALLOW:
        if depth > _MAX_DEPTH or _deep.count >= _MAX_DEEP:
            return "<too deep>"
        _deep.count += 1
    elif not depth:
        _deep.count = 0
    depth += 1
    if kind is dict:
        # A copy in C whose containers are then replaced: most dictionaries hold none.
        copied = cast("dict[Any, Any]", value).copy()
        for key, item in copied.items():
            if type(item) not in _SHARED:
                copied[key] = freeze(item, depth)
        return copied
    if kind is list or kind is tuple:
        items = cast("list[Any]", value)
        return [item if type(item) in _SHARED else freeze(item, depth) for item in items]
    return _freeze_other(value, depth)


def _freeze_other(value: Any, depth: int) -> Any:
    kind = cast("Any", type(value))
    if hasattr(kind, "__pydantic_fields_set__") and hasattr(kind, "model_fields"):
        return _freeze_model(value, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: freeze(getattr(value, f.name), depth) for f in dataclasses.fields(value)}
    return _freeze_unusual(value, depth)


def _freeze_model(model: Any, depth: int) -> dict[str, Any]:
    names: Any = model.__pydantic_fields_set__
    aliases = _aliases(type(model))
    frozen: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", model.__dict__).items():
        if key in names:
            name = aliases.get(key, key) if aliases else key
            frozen[name] = item if type(item) in _SHARED else freeze(item, depth)
    extra: Any = model.__pydantic_extra__
    if extra:
        for key, item in extra.items():
            frozen[key] = item if type(item) in _SHARED else freeze(item, depth)
    return frozen


_known_aliases: dict[Any, dict[str, str]] = {}


def _aliases(kind: Any) -> dict[str, str]:
    """The wire names of a model's fields, where they differ from its attributes."""
    known: dict[str, str] | None = _known_aliases.get(kind)
    if known is None:
        fields = cast("dict[str, Any]", kind.model_fields)
        known = {name: str(field.alias) for name, field in fields.items() if field.alias}
        if len(_known_aliases) < 4_096:  # models made at run time must not pile up
            _known_aliases[kind] = known
    return known


def _freeze_unusual(value: Any, depth: int) -> Any:
    if isinstance(value, (str, bytes, bool, int, float)):
        return value  # a subclass: enum members with str, numpy scalars that are floats, ...
    if is_dict(value):
        return {key: freeze(item, depth) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [freeze(item, depth) for item in cast("list[Any]", value)]
    if isinstance(value, (bytearray, memoryview)):
        return bytes(cast("bytearray", value))
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
        if not is_list(value) or not value:
            return freeze(value)
        key = (len(value), _shape(value))
        known = self._known.get(key)
        if known is not None and known == value:
            return known
        frozen = freeze(value)
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[key] = frozen
        return frozen


def _shape(items: list[Any]) -> int:
    """A cheap hint that tells two catalogues apart; equality decides."""
    first = items[0]
    if not is_dict(first):
        return 0
    inner = first.get("function", first)
    name = inner.get("name") if is_dict(inner) else None
    return hash(name) if isinstance(name, str) else 0
