"""Which recorded call answers a request: by content, and where several have it, by place.

A request is looked for by its exact key (model, system prompt, tools, messages, parameters), then
but for what varies from run to run (``likeness``). Each recorded reply is given once.

Nothing tells apart conversations that begin with the same request at the same time: each may get
the other's reply. What follows tells: a request that goes on with a reply of another conversation
is the one that is recorded behind its own.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations, takewhile
from typing import Any, Final, TypeVar

import orjson

from turnspan import semconv
from turnspan.content.model import as_dict, dumps_text
from turnspan.redaction.truncate import TRUNCATED
from turnspan_records.access.fields import parsed
from turnspan_records.again.rerun.divergence import (
    UNTOLD,
    Divergence,
    RequestContent,
    divergence_of,
)
from turnspan_records.again.rerun.likeness import is_alike
from turnspan_records.again.rerun.recording import PlayableCall, PlayableTool, SessionRecording
from turnspan_records.again.rerun.replies import has_no_answer
from turnspan_records.again.rerun.requests import AskedRequest, RequestPlace, RequestReader
from turnspan_records.screens.request import sent_message

_OWN_TURN: Final = 2
"""How likely a place goes on with the turn that its own turn goes on with."""
_TIMES: Final = {1: "once", 2: "twice"}
_ORDINALS: Final = {2: "a second", 3: "a third"}
_FRAMEWORKS: Final = {semconv.SCOPE_LITELLM, semconv.SCOPE_LLM, semconv.SCOPE_MANUAL}
"""Our instrumentations whose records state the parameters of a framework's own call, which may add
defaults before it sends the request. Those of other packages do as well."""

_Key = tuple[str, str, str, str, tuple[str, ...]]
_Turn = tuple[str, str]
"""Trace and turn of a recorded call."""
PlayedRecord = TypeVar("PlayedRecord", PlayableCall, PlayableTool)


class CallMatcher:
    """Finds the recorded call of each request. Thread-safe."""

    def __init__(self, recording: SessionRecording, reader: RequestReader) -> None:
        self._recording = recording
        self._reader = reader
        self._lock = threading.Lock()
        self._by_key: dict[_Key, list[PlayableCall]] = {}
        for call in recording.calls:
            self._by_key.setdefault(_key(call), []).append(call)
        self._alike: dict[tuple[str, str], bool] = {}
        """By hashes of a recorded content and one of now."""
        self._intervals = _intervals(recording.calls)
        self._replies = self._replies_of_equals()
        self.ambiguous = 0
        """Requests of which several conversations were waiting for their replies."""
        self.exchanged: set[tuple[tuple[str, ...], str]] = set()
        """Of those the replies that were another conversation's, as what followed them tells."""
        self.places = Places()
        self.answered: Counter[str] = Counter()
        """How often each recorded call was given, by its span."""

    def match(self, asked: AskedRequest, *, retries: bool = False) -> PlayableCall | Divergence:
        """The recorded call that answers a request, or what the recording does not have.

        Args:
            asked: the request.
            retries: whether the client itself sends a request again that failed, whatever the
                answer says: it is told of a recorded failure as often as it had tried.
        """
        with self._lock:
            known, every = self._by_key.get(_key(asked), ()), self._recording.calls
            same = (
                [one for one in known if self._same_parameters(one, asked)]
                or [one for one in every if self._is_like(one, asked)]
                or [one for one in every if self._goes_on_with(one, asked)]
            )
            if waiting := [one for one in same if self._waits(one, retries)]:
                found = self.places.nearest(waiting, asked.place)
                self._count(found, waiting, asked)
                self.answered[found.span_id] += 1
                self.places.bind(asked.place, found)
                return found
            if same:
                return self._asked_again(same)
            return self._divergence(asked)

    def nearest(self, asked: AskedRequest) -> PlayableCall | None:
        """The recorded call whose conversation has the longest beginning in common."""
        with self._lock:
            found = self._nearest(asked)
            if found is not None:
                self.answered[found.span_id] += 1
                self.places.bind(asked.place, found)
            return found

    def _replies_of_equals(self) -> dict[tuple[str, ...], set[str]]:
        """What was answered to equal requests of conversations at the same time, by what they had
        sent: as it was received, and as it was sent back."""
        found: dict[tuple[str, ...], set[str]] = {}
        for key, calls in self._by_key.items():
            if any(self._at_once(one, other) for one, other in combinations(calls, 2)):
                found[key[-1]] = {hash_ for one in calls for hash_ in one.output_hashes}
        for length in {len(sent) for sent in found}:
            for call in self._recording.calls:
                sent = tuple(call.input_hashes[:length])
                if sent in found and len(call.input_hashes) > length:
                    found[sent].add(call.input_hashes[length])
        return found

    def _at_once(self, one: PlayableCall, other: PlayableCall) -> bool:
        """Whether two calls are of turns at the same time, and were not answered alike."""
        (began, ended), (start, end) = (self._intervals[_turn(call)] for call in (one, other))
        apart = _turn(one) != _turn(other) and one.output_hashes != other.output_hashes
        return apart and began < end and start < ended

    def _count(
        self, found: PlayableCall, waiting: Sequence[PlayableCall], asked: AskedRequest
    ) -> None:
        """Count what cannot be known of a request, and what it tells of an earlier one."""
        if self.places.likeness(found, asked.place) < _OWN_TURN:
            self.ambiguous += any(self._at_once(found, one) for one in waiting)
        for at, reply in self._replaced(found, asked) or ():
            self.exchanged.add((tuple(found.input_hashes[:at]), reply))

    def _replaced(self, call: PlayableCall, asked: AskedRequest) -> list[tuple[int, str]] | None:
        """Where a request has another conversation's reply in the place of the recorded one; None
        where more is another."""
        found: list[tuple[int, str]] = []
        old = call.input_hashes
        for at, (recorded, now) in enumerate(zip(old, asked.input_hashes, strict=False)):
            if not self._same_message(recorded, now):
                known = self._replies.get(tuple(old[:at]), ())
                if not any(self._same_message(one, now) for one in known):
                    return None
                found.append((at, now))
        return found

    def _goes_on_with(self, call: PlayableCall, asked: AskedRequest) -> bool:
        """Whether a request is a recorded one but for replies that were exchanged."""
        return (
            bool(self._replies)
            and self._is_set_up_like(call, asked)
            and self._replaced(call, asked) is not None
        )

    def _waits(self, call: PlayableCall, retries: bool) -> bool:
        again = call.failed and (retries or has_no_answer(call))
        times = call.tries if again else 1
        return self.answered[call.span_id] < times

    def _asked_again(self, same: Sequence[PlayableCall]) -> Divergence:
        times = len(same)
        again = _ORDINALS.get(times + 1, f"time {times + 1}")
        recorded = _TIMES.get(times, f"{times} times")
        where = f"the same request was sent {again} time, and was recorded {recorded}"
        return Divergence.at(same[-1], where)

    def _divergence(self, asked: AskedRequest) -> Divergence:
        nearest = self._nearest(asked)
        if nearest is None:
            return Divergence(f"no {asked.operation} call is recorded, and one was made")
        same = list(asked.input_hashes)
        for at, (old, new) in enumerate(zip(nearest.input_hashes, same, strict=False)):
            if self._same_message(old, new):
                same[at] = old
        compared = replace(asked, request_parameters=_compared(nearest, asked))
        reader, recording = self._reader, self._recording
        return divergence_of(
            RequestContent(nearest, recording.messages, recording.definitions),
            RequestContent(compared, reader.messages, reader.definitions),
            same,
        )

    def _nearest(self, asked: AskedRequest) -> PlayableCall | None:
        calls = [one for one in self._recording.calls if one.operation == asked.operation]
        if not calls:
            return None

        def rank(call: PlayableCall) -> tuple[Any, ...]:
            old, new = call.input_hashes, asked.input_hashes
            before = self._shared(zip(old, new, strict=False))
            rest = min(len(old), len(new)) - before
            after = self._shared((old[-at], new[-at]) for at in range(1, rest + 1))
            return (
                before + after,
                not self.answered[call.span_id],
                self.places.likeness(call, asked.place),
                self._same_setup(call, asked),
                -abs(len(old) - len(new)),
                -call.number,
            )  # fmt: skip

        return max(calls, key=rank)

    def _shared(self, pairs: Iterable[tuple[str, str]]) -> int:
        return sum(1 for _ in takewhile(lambda pair: self._same_message(*pair), pairs))

    def _same_setup(self, call: PlayableCall, asked: AskedRequest) -> int:
        return sum(
            (
                call.request_model == asked.request_model,
                self._same_definition(call.system_hash, asked.system_hash),
                self._same_definition(call.tools_hash, asked.tools_hash),
                self._same_parameters(call, asked),
            )
        )

    def _is_like(self, call: PlayableCall, asked: AskedRequest) -> bool:
        old, new = call.input_hashes, asked.input_hashes
        return self._is_set_up_like(call, asked) and self._shared(
            zip(old, new, strict=True)
        ) == len(new)

    def _is_set_up_like(self, call: PlayableCall, asked: AskedRequest) -> bool:
        return (
            call.operation == asked.operation
            and call.request_model == asked.request_model
            and len(call.input_hashes) == len(asked.input_hashes)
            and self._same_setup(call, asked) == 4
        )

    def _same_parameters(self, call: PlayableCall, asked: AskedRequest) -> bool:
        old, new = call.request_parameters, _compared(call, asked)
        return self._same(old, new, lambda one, other: is_alike(_told(one), _told(other)))

    def _same_message(self, recorded: str, now: str) -> bool:
        return self._same(recorded, now, self._like_messages)

    def _same_definition(self, recorded: str, now: str) -> bool:
        return self._same(recorded, now, self._like_definitions)

    def _same(self, one: str, other: str, like: Callable[[str, str], bool]) -> bool:
        if one == other:
            return True
        known = self._alike.get((one, other))
        if known is None:
            known = self._alike[one, other] = like(one, other)
        return known

    def _like_messages(self, recorded: str, now: str) -> bool:
        old, new = self._recording.messages.get(recorded), self._reader.messages.get(now)
        if old is None or new is None or old.role != new.role:
            return False
        cut = any(part.get(TRUNCATED) for part in old.parts)
        return is_alike(sent_message(old), sent_message(new), cut=cut)

    def _like_definitions(self, recorded: str, now: str) -> bool:
        old, new = self._recording.definitions.get(recorded), self._reader.definitions.get(now)
        if old is None or new is None:
            return False
        was, is_now = (parsed(source or body) for body, source in (old, new))
        return is_alike(was, is_now)


class Places:
    """Which recorded turn each place of the program goes on with."""

    def __init__(self) -> None:
        self._bound: dict[RequestPlace, _Turn] = {}
        self._holders: dict[_Turn, set[RequestPlace]] = {}
        self._traces: set[tuple[str, str]] = set()
        """Traces of the program, each with a recorded one that it goes on with."""

    def bind(self, place: RequestPlace, call: PlayableCall) -> None:
        """A place got the reply of this call."""
        turn = _turn(call)
        self._holders.get(self._bound.get(place, turn), set[RequestPlace]()).discard(place)
        self._bound[place] = turn
        self._holders.setdefault(turn, set()).add(place)
        if place.trace_id:
            self._traces.add((place.trace_id, call.trace_id))

    def likeness(self, one: PlayedRecord, place: RequestPlace) -> int:
        """How likely a place goes on with a record's turn, of several that are equal."""
        turn = _turn(one)
        if self._bound.get(place) == turn:
            return _OWN_TURN + 1
        holders = self._holders.get(turn)
        if holders:  # maybe other threads of the same turn; else it is another conversation's
            own = (place.trace_id, place.turn_id)
            return (
                _OWN_TURN
                if any((at.trace_id, at.turn_id) == own for at in holders if own[1])
                else -1
            )
        return int((place.trace_id, one.trace_id) in self._traces)

    def nearest(self, equal: Sequence[PlayedRecord], place: RequestPlace) -> PlayedRecord:
        """Of equal records, in their order, the likeliest, and of those the first."""
        return max(equal, key=lambda one: self.likeness(one, place))


def _turn(of: PlayableCall | PlayableTool) -> _Turn:
    return of.trace_id, of.turn_id


def _intervals(calls: Iterable[PlayableCall]) -> dict[_Turn, tuple[datetime, datetime]]:
    """When each turn's first call began and its last one ended."""
    found: dict[_Turn, tuple[datetime, datetime]] = {}
    for call in calls:
        began, ended = call.start_time, call.start_time + timedelta(seconds=call.duration)
        first, last = found.get(_turn(call), (began, ended))
        found[_turn(call)] = min(first, began), max(last, ended)
    return found


def _key(of: PlayableCall | AskedRequest) -> _Key:
    named = (of.operation, of.request_model, of.system_hash, of.tools_hash)
    return (*named, tuple(of.input_hashes))


def _compared(call: PlayableCall, asked: AskedRequest) -> str:
    """The parameters of a request that are compared with a record's, as JSON."""
    scope = call.scope_name or semconv.SCOPE_PREFIX
    ours = scope.startswith(semconv.SCOPE_PREFIX) and scope not in _FRAMEWORKS
    if asked.of_framework or ours:
        return asked.request_parameters
    recorded, now = _told(call.request_parameters), _told(asked.request_parameters)
    return dumps_text({key: value for key, value in now.items() if key in recorded})


def _told(text: str) -> dict[str, Any]:
    found = as_dict(orjson.loads(text or "{}")) or {}
    return {key: value for key, value in found.items() if key not in UNTOLD}
