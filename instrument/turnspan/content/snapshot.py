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

from turnspan.content.text_message import lean
from turnspan.runtime.inspection import looking
from turnspan.runtime.type_guards import is_dict, kind_of

_SHARED = frozenset({str, int, float, bool, type(None), bytes})
_MAX_DEPTH = 64
_SHALLOW = 5
_MAX_DEEP = 20_000
_MAX_REPR = 2_000

_deep = threading.local()
"""How many containers below the shallow levels this thread has copied for one value: ``count``."""


def _cut(text: str, where: str, limit: int) -> str:
    return text[:limit]


shorten: Callable[[str, str, int], str] = _cut
"""Cuts a text to so many characters. Whoever knows the masks sets one that masks it first, so that
no secret is cut in two."""


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
        with looking:
            return _freeze_other(value, depth)
    return _freeze_model(value, aliases, depth)


def _freeze_model(value: Any, aliases: dict[str, str], depth: int) -> Any:
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


def freeze_message(message: Any) -> Any:
    """One message of a history; ``as_dict_message`` gives back what a ``TextMessage`` stands
    for."""
    return lean(message) or freeze(message, 1)


def _freeze_other(value: Any, depth: int) -> Any:
    kind = kind_of(value)
    if hasattr(kind, "__pydantic_fields_set__"):
        if len(_aliases) >= 4_096:  # models made at run time must not pile up
            _aliases.clear()
        names = _wire_names(kind)
        if kind.__getattribute__ is object.__getattribute__:  # else to read it runs its own code
            _aliases[kind] = names
        return _freeze_model(value, names, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: freeze(getattr(value, f.name), depth) for f in dataclasses.fields(value)}
    return _freeze_unusual(value, depth)


_aliases: dict[Any, dict[str, str]] = {}
"""By model class, the wire names of its fields where they differ from its attributes."""


def _wire_names(kind: Any) -> dict[str, str]:
    fields = cast("Mapping[str, Any]", kind.model_fields)
    return {name: str(field.alias) for name, field in fields.items() if field.alias}


def _freeze_unusual(value: Any, depth: int) -> Any:
    if isinstance(value, (str, bytes, int, float)):
        return _scalar(value)
    if is_dict(value):
        return {key: freeze(item, depth) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [freeze(item, depth) for item in cast("Iterable[Any]", value)]
    if isinstance(value, (bytearray, memoryview)):
        return _bytes(value)
    text = repr(value)
    if len(text) <= _MAX_REPR:
        return text
    return shorten(text, "repr", _MAX_REPR) + "..."


def _scalar(value: Any) -> Any:
    """The plain value of a subclass (an enum's member with a text, numpy's floats): what it is, not
    what its own methods make of it."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes.__getitem__(value, slice(None))
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)


def _bytes(value: Any) -> bytes:
    return bytes(value)
