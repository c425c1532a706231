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

_PLAIN = frozenset({dict, str})
_MAX_ONCE = 64
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

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Any, Any]] = {}
        """By size and shape, what is equal to a list exactly, and its frozen copy."""
        self._last: tuple[Any, Any] = (None, None)

    def freeze(self, value: Any) -> Any:
        """A frozen copy of a list, shared with earlier calls that gave the same."""
        if kind_of(value) is not list or not value:
            return freeze(value)
        last = self._last
        if last[0] == value:  # what is equal exactly stands left (see ``exactly``)
            return last[1]
        key = (len(value), _shape(value))
        known = self._known.get(key)
        if known is not None and known[0] == value:
            self._last = known
            return known[1]
        exact = exactly(value)
        frozen = freeze(value)
        if exact is not None and exact == value:  # no other thread has changed it in between
            if len(self._known) >= _MAX_ONCE:
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


class _Kept:
    """A conversation's newest messages, frozen."""

    __slots__ = ("frozen", "looks", "odd")

    def __init__(self, frozen: list[Any], looks: list[Any], odd: list[Odd]) -> None:
        self.frozen = frozen
        self.looks = looks
        """What the next call's messages are compared with: the frozen ones, but for those in which
        the application sends an SDK's objects, as nothing frozen is equal to those."""
        self.odd = odd

    def has(self, messages: list[Any]) -> bool:
        """Whether messages that are equal to these, as far as they go, are the same JSON."""
        count = len(messages)
        for place, numbers in self.odd:
            if place < count and not numbers.are_of(messages[place]):
                return False
        return True


class _Conversation:
    """What is known of a conversation, and what it takes to keep."""

    __slots__ = ("kept", "size")

    def __init__(self, frozen: list[Any], looks: list[Any]) -> None:
        self.size, odd = _measured(frozen, looks)
        self.kept = _Kept(frozen, looks, odd)
        """Replaced as a whole, as another thread may read it."""


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
        self._last: _Kept | None = None

    def freeze(self, messages: Any) -> Any:
        """A frozen copy of the messages."""
        if kind_of(messages) is not list or not messages:
            return freeze(messages)
        last = self._last
        if last is not None and last.looks == messages and last.has(messages):
            return last.frozen
        # How their first messages begin tells most conversations apart, cheaply.
        key = (_beginning(messages[0]), _beginning(messages[1]) if len(messages) > 1 else None)
        alike = self._known.get(key)
        found = None if alike is None else _continued(alike, messages)
        if alike is None or found is None:
            frozen, looks = _beginning_of(alike or [], messages)
            _add(messages, frozen, looks)
            found = _Conversation(frozen, looks)
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
        return kept.frozen

    def _touch(self, key: Any) -> None:
        try:
            self._known.move_to_end(key)
        except KeyError:
            return  # another thread has just made room

    def _renewed(self, found: _Conversation, messages: list[Any]) -> _Kept:
        """The conversation's messages frozen, with those that are still the same."""
        kept = found.kept
        known, looks, odd = kept.frozen, kept.looks, kept.odd
        count, total = len(known), len(messages)
        if count > total:  # a beginning of it
            if kept.has(messages):
                return _Kept(known[:total], looks[:total], odd)
            frozen, looks = _frozen_like(kept, messages)
            return _Kept(frozen, looks, _measured(frozen, looks)[1])
        same = begins_with(messages, looks) and kept.has(messages)
        if same and count == total:
            return kept
        if same:  # they were only added to, as nearly always
            frozen, looks = known.copy(), looks.copy()
            _add(messages, frozen, looks)
            size, more = _measured(frozen, looks, count)
            size += found.size
            if more:
                odd = odd + more
        else:
            frozen, looks = _frozen_like(kept, messages)
            _add(messages, frozen, looks)
            size, odd = _measured(frozen, looks)
        self._held += size - found.size
        found.kept, found.size = _Kept(frozen, looks, odd), size
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


def _add(messages: list[Any], frozen: list[Any], looks: list[Any]) -> None:
    """Add what is missing of the messages to both."""
    for message in messages[len(frozen) :]:
        look = exactly(message) if _may_hold_objects(message) else None
        copied = freeze_message(message)
        frozen.append(copied)
        # What it was before it was copied and is still: no other thread has changed it meanwhile.
        looks.append(look if look is not None and look == message else copied)


def _may_hold_objects(message: Any) -> bool:
    """Whether a message is, or has a list of, an SDK's objects."""
    if kind_of(message) is not dict:
        return True
    fields: dict[Any, Any] = message
    for item in fields.values():
        if kind_of(item) is list and item and not {kind_of(item[0]), kind_of(item[-1])} <= _PLAIN:
            return True
    return False


def _measured(frozen: list[Any], looks: list[Any], start: int = 0) -> tuple[int, list[Odd]]:
    """What messages from a place on take to keep, and those that are odd; a look is exact."""
    size, odd = measured(frozen[start:] if start else frozen)
    found = [(start + place, numbers) for place, numbers in odd]
    return size, [each for each in found if looks[each[0]] is frozen[each[0]]]


def _frozen_like(kept: _Kept, messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """As many messages frozen as are known, those that are the same still as they were."""
    frozen: list[Any] = []
    looks: list[Any] = []
    for place, message in enumerate(messages[: len(kept.frozen)]):
        if _is_same(kept, place, message):
            frozen.append(kept.frozen[place])
            looks.append(kept.looks[place])
        else:
            _add(messages[: place + 1], frozen, looks)
    return frozen, looks


def _is_same(kept: _Kept, place: int, message: Any) -> bool:
    look, old = kept.looks[place], kept.frozen[place]
    return bool(look == message) and (look is not old or is_alike(old, message))


def begins_with(messages: list[Any], beginning: list[Any]) -> bool:
    """Whether a list begins with another; where it does not, most often said by one look."""
    count = len(beginning)
    if not count:
        return True
    if count > len(messages) or beginning[count - 1] != messages[count - 1]:
        return False
    return beginning == (messages if count == len(messages) else messages[:count])


def _continued(alike: list[_Conversation], messages: list[Any]) -> _Conversation | None:
    """The conversation that these messages are of, or the beginning of, among those that begin as
    they do.

    Two that share a system prompt and a first question are told apart by their later messages: by
    the last that is known and one in the middle, or where that was edited, by one of them.
    """
    total = len(messages)
    edited: _Conversation | None = None
    for each in reversed(alike):
        known = each.kept.looks
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


def _beginning_of(alike: list[_Conversation], messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """What a new conversation has in common with the newest that begins as it does, if any."""
    if not alike:
        return [], []
    kept = alike[-1].kept
    count = 0
    for message in messages[: len(kept.frozen)]:
        if not _is_same(kept, count, message):
            break
        count += 1
    return kept.frozen[:count], kept.looks[:count]


def _beginning(message: Any) -> Any:
    content: Any = None
    if is_dict(message):
        content = message.get("content")
        if content is None:  # Gemini's
            parts = message.get("parts")
            first = parts[0] if parts and is_list(parts) else None
            content = first.get("text") if is_dict(first) else None
    return (len(content), content[:64]) if type(content) is str else None
