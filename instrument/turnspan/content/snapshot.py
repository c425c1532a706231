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
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from turnspan.content.alike import Numbers, exactly, is_alike
from turnspan.content.lean import lean
from turnspan.content.shapes import is_dict, is_list, kind_of
from turnspan.content.sizes import measured

_SHARED = frozenset({str, int, float, bool, type(None), bytes})
_MAX_DEPTH = 64
_SHALLOW = 5
_MAX_DEEP = 20_000
_MAX_REPR = 2_000
_OPENING = 2
"""Messages by whose beginnings conversations are found."""
MAX_CONVERSATIONS = 4_096
MAX_HELD = 256 * 2**20
"""Bytes of frozen histories kept (see ``size_of``)."""


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


def freeze_message(message: Any) -> Any:
    """One message of a history; ``lean.thawed`` gives back what a ``TextMessage`` stands for."""
    return lean(message) or freeze(message, 1)


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
    from turnspan.content.redact import cut_text

    return cut_text(text, "repr", _MAX_REPR) + "..."


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


class FrozenOnce:
    """Freezes what is the same on every call (tool definitions) once, and shares the copy.

    What is the same gets the identical frozen object, so that whoever hashes it can do so once. An
    equality check in C costs less than a copy, and holds against changes made in place.
    """

    def __init__(self, limit: int = 64) -> None:
        self._limit = limit
        self._known: dict[tuple[int, int], tuple[Any, Any]] = {}
        """By size and shape, what is equal to a list exactly, and its frozen copy."""
        self._last: tuple[Any, Any] = (None, None)

    def freeze(self, value: Any) -> Any:
        """A frozen copy of a list, shared with earlier calls that gave the same."""
        if kind_of(value) is not list or not value:
            return freeze(value)
        last = self._last
        if last[0] == value:
            return last[1]
        key = (len(value), _shape(value))
        known = self._known.get(key)
        if known is not None and known[0] == value:
            self._last = known
            return known[1]
        frozen = freeze(value)
        exact = exactly(frozen)
        if exact is not None:
            if len(self._known) >= self._limit:
                self._known.clear()
            self._known[key] = self._last = (exact, frozen)
        return frozen


def _shape(items: list[Any]) -> int:
    """A cheap hint that tells two catalogues apart; equality decides."""
    first = items[0]
    if not is_dict(first):
        return 0
    inner = first.get("function", first)
    name = inner.get("name") if is_dict(inner) else None
    return hash(name) if isinstance(name, str) else 0


Odd = tuple[int, Numbers]
"""The place of a message with numbers, which another may be equal to and not the same."""
Kept = tuple[list[Any], list[Odd]]
"""Frozen messages, and those of them that are odd."""


class _Conversation:
    """The newest messages of a conversation, frozen, and what they take to keep."""

    __slots__ = ("kept", "size")

    def __init__(self, messages: list[Any]) -> None:
        self.size, odd = measured(messages)
        self.kept = (messages, odd)
        """Together, as another thread may read and replace them."""


class FrozenHistory:
    """Freezes lists of messages, sharing with the call before what has not changed since.

    An agent sends its history again with every call. What is equal to the frozen message at the
    same place is that message: an equality check in C instead of a copy, and an identity by which
    whoever hashes messages knows them. So what is kept must hold every conversation under way: one
    that is forgotten between its calls is copied whole again, and as many new containers make the
    interpreter collect its garbage again and again.

    Bounded by the number of openings and by ``size_of`` all messages; the conversation idle for
    longest is forgotten first. No lock: what two threads do at once costs a copy at worst, and the
    account is taken anew whenever room is made.
    """

    def __init__(self, limit: int = MAX_CONVERSATIONS, max_held: int = MAX_HELD) -> None:
        self._limit = limit
        self._max_held = max_held
        self._known: OrderedDict[Any, list[_Conversation]] = OrderedDict()
        """By how they begin, the conversations that begin so; nearly always one."""
        self._held = 0
        self._last: Kept | None = None

    def freeze(self, messages: Any) -> Any:
        """A frozen copy of the messages."""
        if kind_of(messages) is not list or not messages:
            return freeze(messages)
        last = self._last
        if last is not None and last[0] == messages and _are(last[1], messages):
            return last[0]
        key = _opening(messages)
        alike = self._known.get(key)
        found = None if alike is None else _continued(alike, messages)
        if alike is None or found is None:
            shared = _beginning_of(alike, messages) if alike else []
            frozen = shared + [freeze_message(message) for message in messages[len(shared) :]]
            found = _Conversation(frozen)
            self._held += found.size
            if alike is None:
                self._known[key] = [found]
            else:
                alike.append(found)
            kept = found.kept
        else:
            kept = self._renewed(found, messages)
        if alike is not None:
            self._touch(key)
        self._last = kept
        if self._held > self._max_held or len(self._known) > self._limit:
            self._make_room()
        return kept[0]

    def _touch(self, key: Any) -> None:
        try:
            self._known.move_to_end(key)
        except KeyError:
            return  # another thread has just made room

    def _renewed(self, found: _Conversation, messages: list[Any]) -> Kept:
        """The conversation's messages frozen, with those that are still the same."""
        known, odd = found.kept
        count, total = len(known), len(messages)
        if count > total:  # a beginning of it
            if _are(odd, messages):
                return known[:total], odd
            frozen = _frozen_like(known, messages)
            return frozen, measured(frozen)[1]
        same = begins_with(messages, known) and _are(odd, messages)
        if same and count == total:
            return found.kept
        new = [freeze_message(message) for message in messages[count:]]
        if same:  # they were only added to, as nearly always
            size, more = measured(new)
            size += found.size
            frozen, odd = known + new, odd + [(count + place, each) for place, each in more]
        else:
            frozen = _frozen_like(known, messages) + new
            size, odd = measured(frozen)
        self._held += size - found.size
        found.kept, found.size = (frozen, odd), size
        return found.kept

    def _make_room(self) -> None:
        """Forget the oldest until an eighth is free; all but the newest may have to go."""
        held = 0
        for alike in list(self._known.values()):
            for each in alike.copy():
                held += each.size
        fewer, less = self._limit - self._limit // 8, self._max_held - self._max_held // 8
        try:
            while held > less or len(self._known) > fewer:
                key, alike = next(iter(self._known.items()))
                if len(alike) > 1 and held > less:
                    held -= alike.pop(0).size
                elif len(self._known) > 1:
                    del self._known[key]
                    for each in alike:
                        held -= each.size
                else:
                    break
        except (KeyError, IndexError, RuntimeError, StopIteration):
            pass  # another thread makes room as well
        self._held = held


def _are(odd: list[Odd], messages: list[Any]) -> bool:
    """Whether messages that are equal to what is known, as far as they go, are the same JSON."""
    count = len(messages)
    for place, numbers in odd:
        if place < count and not numbers.are_of(messages[place]):
            return False
    return True


def _frozen_like(known: list[Any], messages: list[Any]) -> list[Any]:
    """As many messages frozen as are known, those that are the same still as they were."""
    return [
        old if old == now and is_alike(old, now) else freeze_message(now)
        for old, now in zip(known, messages, strict=False)
    ]


def begins_with(messages: list[Any], beginning: list[Any]) -> bool:
    """Whether a list begins with another; where it does not, most often said by one look."""
    count = len(beginning)
    if not count:
        return True
    if count > len(messages) or beginning[count - 1] != messages[count - 1]:
        return False
    return (messages if count == len(messages) else messages[:count]) == beginning


def _continued(alike: list[_Conversation], messages: list[Any]) -> _Conversation | None:
    """The conversation that these messages are of, or the beginning of, among those that begin as
    they do.

    Two that share a system prompt and a first question are told apart by their later messages: by
    the last that is known and one in the middle, or where that was edited, by one of them.
    """
    total = len(messages)
    edited: _Conversation | None = None
    for each in reversed(alike):
        known = each.kept[0]
        count = len(known)
        if count > total:
            if begins_with(known, messages):
                return each
            continue
        middle = count // 2
        ends_so = known[count - 1] == messages[count - 1]
        goes_so = known[middle] == messages[middle]
        if ends_so and goes_so:
            return each
        if edited is None and (ends_so or (goes_so and middle >= _OPENING)):
            edited = each
    return edited


def _beginning_of(alike: list[_Conversation], messages: list[Any]) -> list[Any]:
    """What a new conversation has in common with the newest that begins as it does."""
    known = alike[-1].kept[0]
    count = 0
    for old, now in zip(known, messages, strict=False):
        if old != now or not is_alike(old, now):
            break
        count += 1
    return known[:count]


def _opening(messages: list[Any]) -> Any:
    """What tells most conversations apart, cheaply: how their first messages begin."""
    return (_beginning(messages[0]), _beginning(messages[1]) if len(messages) > 1 else None)


def _beginning(message: Any) -> Any:
    content: Any = None
    if is_dict(message):
        content = message.get("content")
        if content is None:  # Gemini's
            parts = message.get("parts")
            first = parts[0] if parts and is_list(parts) else None
            content = first.get("text") if is_dict(first) else None
    return (len(content), content[:64]) if type(content) is str else None
