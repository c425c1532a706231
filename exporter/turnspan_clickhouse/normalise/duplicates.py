"""One model call, one tool execution, told by several instrumentations, none around the other.

A framework's callbacks make a span beside the provider SDK's, not around it, and often in a trace
of its own. Two rows are of one call where different scopes tell them, their times overlap, the
model can be the same, and they have the provider's response id in common, else what was answered,
else (where one of them does not know the answer) the token counts. Two are of one tool where they
have the call id in common, else name and arguments.

While all rows come from one scope, as nearly always, this costs next to nothing: what is compared
is made only when a row of another scope overlaps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from turnspan.content.model import TOOL_CALL, Message
from turnspan_clickhouse.normalise.history_keys import HistoryReader, ReplyKeys, canonical
from turnspan_clickhouse.normalise.nesting import same_call
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall

MAX_SIGHTINGS: Final = 512
SLACK_NS: Final = 250 * 10**6
"""A callback tells of a beginning or an end a little before or after it."""
SIBLING_SLACK_NS: Final = 2 * 10**9
"""So long before, where both are under the same span: a framework's may end before a stream begins,
for which the first time a client is made."""
_LONG_AGO_NS: Final = 60 * 10**9
"""Rows come in about the order of their end: before one that ended so much earlier, none fits."""


_OURS: Final = "turnspan."
_NOTHING: Final[list[Message]] = []


class Sighting:
    """A row that has landed, and who has told of it."""

    __slots__ = ("output", "placed", "row", "tellers")

    def __init__(self, row: Any, teller: str, output: list[Message]) -> None:
        self.row = row
        self.output = output
        self.placed = True
        """Whether its turn is known: of a tool that nobody asked for as yet it is not."""
        self.tellers: str | set[str] = teller
        """One, as nearly always, or several."""

    def told_by(self, teller: str) -> bool:
        """Whether this scope has told of it."""
        tellers = self.tellers
        return tellers == teller if isinstance(tellers, str) else teller in tellers

    def add(self, teller: str) -> None:
        """Another one has told of it."""
        tellers = self.tellers
        self.tellers = {tellers, teller} if isinstance(tellers, str) else tellers | {teller}

    def overlaps(self, row: Any) -> bool:
        """Whether another scope's row is of the same time."""
        if self.told_by(_teller(row)):
            return False
        mine = self.row
        siblings = mine.parent_span_id and mine.parent_span_id == row.parent_span_id
        slack = SIBLING_SLACK_NS if siblings else SLACK_NS
        return bool(mine.start_time <= _end(row) + slack and row.start_time <= _end(mine) + slack)


def _end(row: Any) -> int:
    end: int = row.start_time + round(row.duration * 1e9)
    return end


def _teller(row: Any) -> str:
    """Who tells of a row: its scope; our instrumentors are one, as none records inside another."""
    scope: str = row.scope_name
    return _OURS if scope.startswith(_OURS) else scope


class Sightings:
    """The newest calls and tools of a process."""

    def __init__(self) -> None:
        self._reader = HistoryReader()
        self._calls: deque[Sighting] = deque(maxlen=MAX_SIGHTINGS)
        self._tools: deque[Sighting] = deque(maxlen=MAX_SIGHTINGS)
        self._call_scopes: set[str] = set()
        self._tool_scopes: set[str] = set()

    def may_see_calls_twice(self, row: LlmCall) -> bool:
        """Whether there is another scope that tells of calls."""
        scopes = self._call_scopes
        return len(scopes) > 1 or (bool(scopes) and _teller(row) not in scopes)

    def call(self, row: LlmCall, output: list[Message]) -> LlmCall | None:
        """The row of this call that another scope's span has made, if any.

        ``output`` is what was answered, in the GenAI schema; empty where that is not known.
        """
        answer = self._answer(output)
        best: Sighting | None = None
        most: tuple[int, ...] = ()
        for one in reversed(self._calls):
            if _end(one.row) + _LONG_AGO_NS < row.start_time:
                break
            likeness = self._likeness(one, row, answer, output) if one.overlaps(row) else ()
            if likeness > most:
                best, most = one, likeness
        if best is None:
            return None
        best.add(_teller(row))
        found: LlmCall = best.row
        return found

    def landed(self, row: LlmCall, output: list[Message]) -> None:
        """Remember a call's row."""
        teller = _teller(row)
        if teller not in self._call_scopes:
            self._call_scopes.add(teller)
        self._calls.append(Sighting(row, teller, output))

    def tool(
        self, row: ToolCall, turns: Callable[[], frozenset[str]], *, by_id: bool = False
    ) -> ToolCall | None:
        """The row of this execution that another scope's span has made; else it is remembered.

        Of another trace it is only where that one's turn is among ``turns``, those that this row's
        trace tells of, or where nothing is known of either: two users ask for the same at the same
        moment. ``by_id`` the call's id is enough: a thread that stays carries the turn of another.
        """
        teller = _teller(row)
        if teller not in self._tool_scopes:
            self._tool_scopes.add(teller)
        if len(self._tool_scopes) > 1:
            same: Sighting | None = None
            known: frozenset[str] | None = None
            for one in reversed(self._tools):
                if _end(one.row) + _LONG_AGO_NS < row.start_time:
                    break
                if not one.overlaps(row) or not same_tool(one.row, row):
                    continue
                if one.row.trace_id == row.trace_id:
                    same = one
                    break
                if same is None:
                    known = turns() if known is None else known
                    same_id = by_id and one.row.call_id and row.call_id
                    if same_id or not known or not one.placed or one.row.turn_id in known:
                        same = one
            if same is not None:
                same.add(teller)
                found: ToolCall = same.row
                return found
        self._tools.append(Sighting(row, teller, _NOTHING))
        return None

    def unplaced(self, row: ToolCall) -> None:
        """Of this tool, the newest, nobody knows the turn."""
        if self._tools and self._tools[-1].row is row:
            self._tools[-1].placed = False

    def forget_trace(self, trace_id: str) -> None:
        """Forget what a trace's spans have told: they are told again."""
        for kept in (self._calls, self._tools):
            rest = [one for one in kept if one.row.trace_id != trace_id]
            if len(rest) < len(kept):
                kept.clear()
                kept.extend(rest)

    def _answer(self, output: list[Message]) -> ReplyKeys | None:
        answers = self._reader.answers(output, one_choice=True) if output else []
        return answers[0] if answers and answers[0].keys else None

    def _likeness(
        self, one: Sighting, row: LlmCall, answer: ReplyKeys | None, output: list[Message]
    ) -> tuple[int, ...]:
        """How much two calls have in common, the surest first: users who talk at the same moment
        are answered in the same words. Empty where they are not one call."""
        first: LlmCall = one.row
        by_id = bool(first.response_id and row.response_id)
        if by_id:
            may_be = first.response_id == row.response_id
        else:
            may_be = bool(first.error_type) == bool(row.error_type) and _may_be_one_model(
                first, row
            )
        if not may_be or not same_call(first, row.operation):
            return ()
        known = self._answer(one.output)  # hashes: only of what may be the same
        same_tokens = row.input_tokens is not None and (
            (first.input_tokens, first.output_tokens) == (row.input_tokens, row.output_tokens)
        )
        if by_id:
            is_one = True
        elif known is None or answer is None:
            is_one = bool(row.error_type) or same_tokens
        elif known.call_ids and answer.call_ids:  # "Let me look." is said before any tool
            # Or a framework has made ids of its own.
            is_one = known.call_ids == answer.call_ids or _asked(one.output) == _asked(output)
        else:
            is_one = not set(known.keys).isdisjoint(answer.keys)
        if not is_one:
            return ()
        return (
            by_id,
            known is not None and answer is not None and known.keys == answer.keys,
            same_tokens,
            first.session_id != "" and first.session_id == row.session_id,
            first.parent_span_id != "" and first.parent_span_id == row.parent_span_id,
            -abs(first.start_time - row.start_time) - abs(_end(first) - _end(row)),
        )


def _may_be_one_model(one: LlmCall, other: LlmCall) -> bool:
    """Whether two names can be of one model: with or without a provider before it, a date after."""
    ours, theirs = _models(one), _models(other)
    if not ours or not theirs:
        return True
    return any(a.startswith(b) or b.startswith(a) for a in ours for b in theirs)


def _models(row: LlmCall) -> list[str]:
    names = (row.request_model, row.response_model)
    return [name.rsplit("/", 1)[-1].lower() for name in names if name]


def _asked(output: list[Message]) -> list[tuple[str, str]]:
    """The tool calls of a reply by name and arguments, sorted."""
    parts = [part for message in output for part in message["parts"]]
    calls = [part for part in parts if part.get("type") == TOOL_CALL]
    return sorted((str(one.get("name")), canonical(one.get("arguments"))) for one in calls)


def same_tool(first: ToolCall, row: ToolCall) -> bool:
    """Whether two tool spans, of the same time or one in the other, are of one execution."""
    if first.call_id and row.call_id:
        return first.call_id == row.call_id
    if first.name != row.name:
        return False
    if not first.arguments or not row.arguments:
        return True
    return canonical(first.arguments) == canonical(row.arguments)
