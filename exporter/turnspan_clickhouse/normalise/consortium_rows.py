"""The rows of consortium runs, and which arbiters' calls were not the final ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from turnspan import semconv
from turnspan.redaction.truncate import limit_text
from turnspan.tracing import consortium_facts as told
from turnspan.tracing.content_store import Fact
from turnspan_clickhouse.normalise.loop_rows import RowContext
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.rows import consortium_tables as tables
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.record import NO_HASH, Texts
from turnspan_clickhouse.rows.tables import LlmCall

if TYPE_CHECKING:
    from turnspan_clickhouse.normalise.fact_rows import FactRows

PROMPT: Final = "consortium_prompt"
FINAL: Final = "consortium_final"
"""Kinds of ``definition``."""

MAX_CALLS: Final = 2_048
"""Calls of arbiters that are remembered, over all runs."""
MAX_FOLLOWED: Final = 4_096


class ArbiterCalls:
    """The calls of arbiters lately, until it is known whether another iteration follows.

    Of an arbiter that is remembered no more, or that asked in another process, the calls stay
    those of a final arbiter: what an iteration is, its own row and its number say.
    """

    __slots__ = ("_calls", "_followed", "_held")

    def __init__(self) -> None:
        self._calls: OrderedDict[str, list[LlmCall]] = OrderedDict()
        self._followed: OrderedDict[str, None] = OrderedDict()
        self._held = 0

    def called(self, row: LlmCall, attributes: Mapping[str, Any]) -> None:
        """An arbiter's call ended; its row is not written yet."""
        arbiter = attributes.get(semconv.CONSORTIUM_MEMBER)
        if type(arbiter) is not str or not arbiter:
            return
        if arbiter in self._followed:
            row.consortium_role = told.EARLIER_ARBITER
            return
        self._calls.setdefault(arbiter, []).append(row)
        self._calls.move_to_end(arbiter)
        self._held += 1
        while self._held > MAX_CALLS and len(self._calls) > 1:
            self._held -= len(self._calls.popitem(last=False)[1])

    def followed(self, arbiter: str, batch: Batch) -> None:
        """Another iteration begins after this arbiter's: its calls are written again as those of an
        earlier one."""
        self._followed[arbiter] = None
        if len(self._followed) > MAX_FOLLOWED:
            self._followed.popitem(last=False)
        calls = self._calls.pop(arbiter, [])
        self._held -= len(calls)
        for row in calls:
            row.consortium_role = told.EARLIER_ARBITER
            rewrite(row, batch)

    def forget(self) -> None:
        """In a forked child: the runs are the parent's."""
        self._calls.clear()
        self._followed.clear()
        self._held = 0


def consortium_rows(fact: Any, rows: FactRows, batch: Batch) -> None:
    """Add what a fact of a run says."""
    if isinstance(fact, told.IterationFollowed):
        rows.arbiters.followed(fact.arbiter_id, batch)
        return
    project = rows.origin(fact.place.resource).project
    _BUILDERS[type(fact)](fact, _Place(project, rows, batch))


class _Place(RowContext):
    """As ``RowContext``, with what all rows of runs have."""

    __slots__ = ("_column", "said_beside")

    def __init__(self, project: str, rows: FactRows, batch: Batch) -> None:
        super().__init__(project, rows.redactor, rows.message_store, batch)
        self._column: Callable[[str, str], str] = rows.cleaner.column
        self.said_beside: dict[str, str] = {}
        """The attributes: what was cut, and how a run was found."""

    def of(self, where: told.ConsortiumPlace) -> dict[str, Any]:
        """The columns that say which run it is and where; as spans say them."""
        return {
            "consortium_id": self._column(semconv.CONSORTIUM_ID, where.consortium_id),
            "session_id": self._column(semconv.CONVERSATION_ID, where.session_id),
            "turn_id": where.turn_id,
            "trace_id": where.trace_id,
        }

    def id(self, value: str) -> str:
        """The id of a run, as spans say it."""
        return self._column(semconv.CONSORTIUM_ID, value) if value else ""

    def text(self, value: Any, column: str) -> str:
        """Content as a column has it; what was cut is told in the attributes."""
        kept, size = self.content(value, "output")
        self._note(column, size)
        return kept

    def texts(self, values: tuple[str, ...]) -> list[str]:
        """Short texts that are content."""
        if not self.redactor.settings.capture_content:
            return []
        return [self.said(one, "output") for one in values]

    def stored(self, kind: str, value: Any, column: str, when: int) -> bytes:
        """The hash of content that is stored once."""
        body, size = self.content(value, "output" if kind == FINAL else "input")
        self._note(column, size)
        return self.define(kind, body, when) if body else NO_HASH

    def error(self, message: str) -> str:
        """What an error says: it may quote content."""
        settings = self.redactor.settings
        if not settings.capture_content:
            return ""
        return limit_text(self.said(message, "error"), settings.content_limit_bytes)[0]

    def attributes(self) -> Texts:
        """What the columns do not say."""
        return EncodedMap.of(self.said_beside)

    def _note(self, column: str, size: int) -> None:
        if size:
            self.said_beside[semconv.TRUNCATED_PREFIX + column] = str(size)


def _run(fact: told.ConsortiumTold, place: _Place) -> None:
    prompt = place.stored(PROMPT, fact.prompt, "prompt", fact.started_at)
    final = place.stored(FINAL, fact.final_text, "final_text", fact.started_at)
    if fact.grouped_by:
        place.said_beside[semconv.CONSORTIUM_GROUPED_BY] = ",".join(fact.grouped_by)
    if fact.missing:
        place.said_beside[semconv.CONSORTIUM_MISSING] = str(fact.missing)
    place.add(
        tables.Consortium,
        **place.of(fact.place),
        name=place.said(fact.name, "consortium:name"),
        strategy=place.said(fact.strategy, "consortium:strategy"),
        prompt=prompt,
        final_text=final,
        status=fact.status,
        iterations=fact.iterations,
        source=fact.source,
        outer_id=place.id(fact.outer_id),
        outer_member=fact.outer_member,
        span_id=fact.span_id,
        started_at=fact.started_at,
        duration=fact.duration,
        error_type=fact.error_type,
        error_message=place.error(fact.error_message),
        attributes=place.attributes(),
    )


def _member(fact: told.MemberAnswered, place: _Place) -> None:
    answer = place.text(fact.answer, "answer")
    place.add(
        tables.ConsortiumMember,
        **place.of(fact.place),
        iteration=fact.iteration,
        member_id=fact.member_id,
        model=place.said(fact.model, f"attribute:{semconv.REQUEST_MODEL}"),
        instance=place.said(fact.instance, "consortium:instance"),
        answer=answer,
        started_at=fact.started_at,
        duration=fact.duration,
        error_type=fact.error_type,
        error_message=place.error(fact.error_message),
        attributes=place.attributes(),
    )


def _iteration(fact: told.ArbiterDecided, place: _Place) -> None:
    synthesis = place.text(fact.synthesis, "synthesis")
    reasoning, raw = place.text(fact.reasoning, "reasoning"), place.text(fact.raw, "raw")
    needs = fact.needs_iteration
    place.add(
        tables.ConsortiumIteration,
        **place.of(fact.place),
        iteration=fact.iteration,
        arbiter_id=fact.arbiter_id,
        model=place.said(fact.model, f"attribute:{semconv.REQUEST_MODEL}"),
        synthesis=synthesis,
        ranking=[place.said(one, "consortium:ranking") for one in fact.ranking],
        confidence=fact.confidence,
        reasoning=reasoning,
        refinement_areas=place.texts(fact.refinement_areas),
        needs_iteration=None if needs is None else int(needs),
        raw=raw,
        started_at=fact.started_at,
        duration=fact.duration,
        error_type=fact.error_type,
        error_message=place.error(fact.error_message),
        attributes=place.attributes(),
    )


_BUILDERS: Final[dict[type[Fact], Callable[[Any, _Place], None]]] = {
    told.ConsortiumTold: _run,
    told.MemberAnswered: _member,
    told.ArbiterDecided: _iteration,
}
KINDS: Final = (*_BUILDERS, told.IterationFollowed)
"""The facts that ``consortium_rows`` takes."""
