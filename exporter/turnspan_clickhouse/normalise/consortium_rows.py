"""The rows of consortium runs, and which arbiters' calls were not the final ones.

Of runs whose spans were received, what these say takes the place of the facts, which do not travel.
Prompts, answers and syntheses do not, either; a member's answer is that of its last call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from turnspan import semconv
from turnspan.tracing import consortium_facts as told
from turnspan.tracing.content_store import Fact
from turnspan_clickhouse.normalise.column_values import integer, text
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows import consortium_tables as tables
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import LlmCall

if TYPE_CHECKING:
    from turnspan_clickhouse.normalise.fact_rows import FactRows

MAX_CALLS: Final = 2_048
"""Calls of arbiters that are remembered, over all runs."""
MAX_FOLLOWED: Final = 4_096


class ArbiterCalls:
    """The calls of arbiters lately, until it is known whether another iteration follows.

    Of an arbiter that is remembered no more, or that asked in another process, the calls stay
    those of a final arbiter: what an iteration is, its own row and its number say.
    """

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


def consortium_rows(fact: Any, rows: FactRows, batch: Batch) -> None:
    """Add what a fact of a run says."""
    if isinstance(fact, told.IterationFollowed):
        rows.arbiters.followed(fact.arbiter_id, batch)
        return
    context = rows.context(fact.place.resource, batch)
    columns: dict[str, Any] = {"error_message": context.limited(fact.error_message, "error")}
    if isinstance(fact, told.ConsortiumTold):
        columns["attributes"] = beside = dict[str, str]()
        if fact.grouped_by:
            beside[semconv.CONSORTIUM_GROUPED_BY] = ",".join(fact.grouped_by)
        if fact.missing:
            beside[semconv.CONSORTIUM_MISSING] = str(fact.missing)
    elif not context.captured:
        columns["refinement_areas"] = ()
    context.add(_RECORDS[type(fact)], fact, fact.place, **columns)


_RECORDS: Final[dict[type[Fact], type[Record]]] = {
    told.ConsortiumTold: tables.Consortium,
    told.MemberAnswered: tables.ConsortiumMember,
    told.ArbiterDecided: tables.ConsortiumIteration,
}
KINDS: Final = (*_RECORDS, told.IterationFollowed)
"""The facts that ``consortium_rows`` takes."""


MAX_RUNS: Final = 2_048
"""Runs of which it is remembered which arbiter decided on which iteration."""
_MOST_RANKED: Final = 1_000


class _KnownRun:
    """How far a run is known; its spans come in any order."""

    __slots__ = ("arbiters", "last")

    def __init__(self) -> None:
        self.arbiters: dict[str, int] = {}
        self.last = 0


class ConsortiumSpans:
    """Makes the facts of runs, members and arbiters of their spans."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, _KnownRun] = OrderedDict()

    def facts_of(self, span: SpanFacts) -> Iterator[Fact]:
        """What the span of a run, a member or an arbiter tells of it; of others, nothing."""
        said = span.raw
        run = said.get(semconv.CONSORTIUM_ID)
        if type(run) is not str or not run:
            return
        if semconv.CONSORTIUM_STATUS in said:
            yield _run(span, run)
        elif said.get(semconv.CONSORTIUM_MEMBER) == span.span_id:
            iteration = _number(said, semconv.CONSORTIUM_ITERATION)
            if said.get(semconv.CONSORTIUM_ROLE) == told.MEMBER:
                yield _member(span, run, iteration)
                yield from self._seen(run, iteration, "")
            else:
                yield _arbiter(span, run, iteration)
                yield from self._seen(run, iteration, span.span_id)

    def _seen(self, run_id: str, iteration: int, arbiter: str) -> Iterator[Fact]:
        """The arbiters that turn out not to have been the final one."""
        run = self._runs.setdefault(run_id, _KnownRun())
        self._runs.move_to_end(run_id)
        if len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)
        run.last = max(run.last, iteration)
        if arbiter:
            run.arbiters[arbiter] = iteration
        for one in [one for one, decided in run.arbiters.items() if decided < run.last]:
            del run.arbiters[one]
            yield told.IterationFollowed(one)


def _run(span: SpanFacts, run: str) -> Fact:
    said = span.raw
    return told.ConsortiumTold(
        **_ended(span, run),
        name=text(said.get(semconv.CONSORTIUM_NAME)),
        strategy=text(said.get(semconv.CONSORTIUM_STRATEGY)),
        prompt=None,
        status=text(said.get(semconv.CONSORTIUM_STATUS)),
        iterations=_number(said, semconv.CONSORTIUM_ITERATIONS),
        outer_id=text(said.get(semconv.CONSORTIUM_OUTER)),
        span_id=span.span_id,
    )


def _member(span: SpanFacts, run: str, iteration: int) -> Fact:
    said = span.raw
    return told.MemberAnswered(
        **_ended(span, run),
        iteration=iteration,
        member_id=span.span_id,
        model=text(said.get(semconv.CONSORTIUM_MODEL)),
        instance=text(said.get(semconv.CONSORTIUM_INSTANCE)),
    )


def _arbiter(span: SpanFacts, run: str, iteration: int) -> Fact:
    said = span.raw
    confidence, needs = said.get(semconv.CONSORTIUM_CONFIDENCE), said.get(semconv.CONSORTIUM_AGAIN)
    ranking: Any = said.get(semconv.CONSORTIUM_RANKING)
    ranked: Any = ranking if type(ranking) in (list, tuple) else ()
    return told.ArbiterDecided(
        **_ended(span, run),
        iteration=iteration,
        arbiter_id=span.span_id,
        model=text(said.get(semconv.CONSORTIUM_MODEL)),
        ranking=tuple(map(text, ranked[:_MOST_RANKED])),
        confidence=float(confidence) if isinstance(confidence, (int, float)) else None,
        needs_iteration=needs if isinstance(needs, bool) else None,
    )


def _ended(span: SpanFacts, run: str) -> dict[str, Any]:
    """What every fact of a run says of its span: where, when and how it ended."""
    resource = span.span.resource.attributes
    return {
        "place": told.ConsortiumPlace(resource, run, span.session_id, span.turn_id, span.trace_id),
        "started_at": span.start_time,
        "duration": span.duration,
        "error_type": span.error_type,
        "error_message": span.error_message,
    }


def _number(said: dict[str, Any], key: str) -> int:
    return min(max(integer(said.get(key)) or 0, 0), 2**32 - 1)
