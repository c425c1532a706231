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
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from turnspan.content.shapes import is_dict, kind_of

_SHARED = frozenset({str, int, float, bool, type(None), bytes})
_MAX_DEPTH = 64
_SHALLOW = 5
_MAX_DEEP = 20_000
_MAX_REPR = 2_000


_deep = threading.local()
"""How many containers below the shallow levels this thread has copied for one value: ``count``."""


def freeze_fields(
    body: Mapping[str, Any], freezers: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Any]:
    """A copy of a request: each field frozen, by a freezer of its own where it has one."""
    frozen: dict[str, Any] = {}
    for key, value in body.items():
        if type(value) in _SHARED:
            frozen[key] = value
        else:
            freezer = freezers.get(key)
            frozen[key] = freeze(value) if freezer is None else freezer(value)
    return frozen


def freeze(value: Any, depth: int = 0) -> Any:
    """Return a copy of ``value`` made of dicts, lists and shared scalars.

    Deeper than 64 levels a marker string stands instead, and below the fifth level of what turns
    out to be endless (a graph with cycles). Objects of unknown types become a short text. Raises
    whatever a hostile object's own methods raise; callers guard.
    """
    kind = kind_of(value)
    if kind in _SHARED:
        return value
    if depth > _SHALLOW:
        count: int = getattr(_deep, "count", 0)
        if depth > _MAX_DEPTH or count >= _MAX_DEEP:
            return "<too deep>"
        _deep.count = count + 1
    elif not depth:
        _deep.count = 0
    depth += 1
    if kind is dict:
        # A copy in C whose containers are then replaced: most dictionaries hold none.
        copied: dict[Any, Any] = value.copy()
        for key, item in copied.items():
            if type(item) not in _SHARED:
                copied[key] = freeze(item, depth)
        return copied
    if kind is list or kind is tuple:
        return [item if type(item) in _SHARED else freeze(item, depth) for item in value]
    aliases = _aliases.get(kind)
    if aliases is None:
        return _freeze_other(value, depth)
    names = value.__pydantic_fields_set__
    frozen: dict[str, Any] = {}
    for key, item in value.__dict__.items():
        if key in names:
            frozen[key] = item if type(item) in _SHARED else freeze(item, depth)
    extra = value.__pydantic_extra__
    if extra:
        frozen.update(freeze(extra, depth))
    if aliases:
        return {aliases.get(key, key): item for key, item in frozen.items()}
    return frozen


def _freeze_other(value: Any, depth: int) -> Any:
    kind = kind_of(value)
    if hasattr(kind, "__pydantic_fields_set__"):
        if len(_aliases) >= 4_096:  # models made at run time must not pile up
            _aliases.clear()
        _aliases[kind] = _wire_names(kind)
        return freeze(value, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: freeze(getattr(value, f.name), depth) for f in dataclasses.fields(value)}
    return _freeze_unusual(value, depth)


_aliases: dict[Any, dict[str, str]] = {}
"""By model class, the wire names of its fields where they differ from its attributes."""


def _wire_names(kind: Any) -> dict[str, str]:
    fields = cast("Mapping[str, Any]", kind.model_fields)
    return {name: str(field.alias) for name, field in fields.items() if field.alias}


def _freeze_unusual(value: Any, depth: int) -> Any:
    if isinstance(value, (str, bytes, bool, int, float)):
        return value  # a subclass: enum members with str, numpy scalars that are floats, ...
    if is_dict(value):
        return {key: freeze(item, depth) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [freeze(item, depth) for item in cast("Iterable[Any]", value)]
    if isinstance(value, (bytearray, memoryview)):
        return _bytes(value)
    text = repr(value)
    if len(text) <= _MAX_REPR:
        return text
    from turnspan.content.redact import cut_text

    return cut_text(text, "repr", _MAX_REPR) + "..."


def _bytes(value: Any) -> bytes:
    return bytes(value)


class FrozenOnce:
    """Freezes what is the same on every call (tool definitions) once, and shares the copy.

    Equal values get the identical frozen object, so that whoever hashes it can do so once. An
    equality check in C costs less than a copy, and holds against changes made in place.
    """

    def __init__(self, limit: int = 64) -> None:
        self._limit = limit
        self._known: dict[tuple[int, int], Any] = {}
        self._last: list[Any] | None = None

    def freeze(self, value: Any) -> Any:
        """A frozen copy of a list, shared with earlier calls that gave an equal one."""
        if kind_of(value) is not list or not value:
            return freeze(value)
        last = self._last
        if last == value:
            return last
        key = (len(value), _shape(value))
        known = self._known.get(key)
        if known is not None and known == value:
            self._last = known
            return known
        frozen = freeze(value)
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[key] = self._last = frozen
        return frozen


def _shape(items: list[Any]) -> int:
    """A cheap hint that tells two catalogues apart; equality decides."""
    first = items[0]
    if not is_dict(first):
        return 0
    inner = first.get("function", first)
    name = inner.get("name") if is_dict(inner) else None
    return hash(name) if isinstance(name, str) else 0


class FrozenHistory:
    """Freezes lists of messages, sharing with the call before what has not changed since.

    An agent sends its history again with every call. What is equal to the frozen message at the
    same place is that message: an equality check in C instead of a copy, and an identity by which
    whoever hashes messages knows them. Bounded; the oldest conversation is forgotten first.
    """

    def __init__(self, limit: int = 16) -> None:
        self._limit = limit
        self._known: dict[Any, list[Any]] = {}
        self._last: list[Any] | None = None

    def freeze(self, messages: Any) -> Any:
        """A frozen copy of the messages."""
        if kind_of(messages) is not list or not messages:
            return freeze(messages)
        last = self._last
        if last == messages:
            return last
        key = _opening(messages)
        known = self._known.get(key)
        if known is None:
            frozen = [freeze(message, 1) for message in messages]
            while len(self._known) >= self._limit:
                self._known.pop(next(iter(self._known)), None)
        elif known == messages:
            frozen = known
        else:
            frozen = _shared(known, messages)
        self._known[key] = self._last = frozen
        return frozen


def _shared(known: list[Any], messages: list[Any]) -> list[Any]:
    """The messages frozen, with those of the call before that are still the same."""
    count = len(known)
    if messages[:count] == known:  # they were only added to, as nearly always
        return known + [freeze(message, 1) for message in messages[count:]]
    frozen = [
        old if old == new else freeze(new, 1) for old, new in zip(known, messages, strict=False)
    ]
    return frozen + [freeze(message, 1) for message in messages[count:]]


def _opening(messages: list[Any]) -> Any:
    """What tells conversations apart, cheaply: how their first two messages begin."""
    return (_beginning(messages[0]), _beginning(messages[1]) if len(messages) > 1 else None)


def _beginning(message: Any) -> Any:
    content: Any = message.get("content") if is_dict(message) else None
    return (len(content), content[:64]) if type(content) is str else None
