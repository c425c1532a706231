"""Freezing what an application sends again and again: its history, and its tool definitions.

A message that is equal, to the letter, to the one at its place in the conversation's call before is
the same frozen object. So a call pays for what is new in it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from turnspan.content.equality import Numbers, exactly, is_alike
from turnspan.content.sizes import measured
from turnspan.content.snapshot import freeze, freeze_message
from turnspan.runtime.type_guards import is_dict, is_list, kind_of

_OPENING = 2
"""Messages by whose beginnings conversations are found."""
MAX_CONVERSATIONS = 4_096
MAX_HELD = 256 * 2**20
"""Bytes of frozen histories kept (see ``size_of``)."""


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
