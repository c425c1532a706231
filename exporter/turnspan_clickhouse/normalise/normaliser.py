"""Finished spans (and the content beside them) -> records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from turnspan import config, semconv
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.throttle import give_way
from turnspan.tracing.content_store import (
    Content,
    ContentStore,
    Fact,
    InferenceContent,
    ToolContent,
    TurnContent,
)
from turnspan_clickhouse.normalise import other_rows
from turnspan_clickhouse.normalise.attributes import Cleaner
from turnspan_clickhouse.normalise.consortium_rows import ArbiterCalls, ConsortiumSpans
from turnspan_clickhouse.normalise.context_texts import ContextTexts
from turnspan_clickhouse.normalise.decorated_turns import DecoratedTurns
from turnspan_clickhouse.normalise.derived_turns import DerivedTurns
from turnspan_clickhouse.normalise.duplicates import Sightings, same_tool
from turnspan_clickhouse.normalise.fact_rows import FactRows
from turnspan_clickhouse.normalise.foreign import LaterSpans, Told, adopt, operation_of
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.model_calls import ModelCalls
from turnspan_clickhouse.normalise.nesting import ChildRows, enrich_tool
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.normalise.running_calls import RunningCalls
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers
from turnspan_clickhouse.normalise.span_facts import Origins, SpanFacts, SpanReader
from turnspan_clickhouse.normalise.turn_facts import mask_ending
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import TurnSummary

TOGETHER = 32
"""Spans that go through a step before the next step begins."""


class Normaliser:
    """Turns spans into records; remembers what has landed and what each open turn has cost.

    ``received`` spans come from other processes, in any order: an agent's row keeps its span's
    identity whatever came before it. ``shared`` are the answers that other processes of the same
    store have given.
    """

    def __init__(
        self,
        content: ContentStore,
        project: str = "",
        *,
        received: bool = False,
        shared: SharedAnswers | None = None,
        settings: Callable[[], config.Settings] = config.active,
    ) -> None:
        self._content = content
        self._settings_now = settings
        self._project = project
        self._received = received
        self._shared = shared
        self._message_store = MessageStore()
        self._contexts = ContextTexts()
        self._also_ours: dict[str, bool] = {}
        """By the scopes of other packages, whether we have seen a call that they told of, too."""
        self._begin()
        self._settings: config.Settings = settings()
        self._use(self._settings)

    def _begin(self) -> None:
        """Know no conversations and no open turns."""
        self._sightings = Sightings()
        shared = self._shared
        self._derived = DerivedTurns(self._sightings, own_ids=self._received, shared=shared)
        self._decorated = DecoratedTurns(self._sightings)
        self._arbiters = ArbiterCalls()
        self._runs = ConsortiumSpans() if self._received else None
        self._calls = ModelCalls(
            self._derived,
            self._decorated,
            self._sightings,
            self._message_store,
            self._contexts,
            self._arbiters,
            self._also_ours,
        )
        self._later = LaterSpans(self._also_ours)
        self._running = RunningCalls(self._content, self._derived, self._message_store)

    def span(self, span: ReadableSpan, batch: Batch) -> None:
        """Add a span's records to the batch. Raises for a span that cannot be read."""
        for error in self.spans([span], batch):
            raise error

    def spans(
        self,
        spans: Sequence[ReadableSpan],
        batch: Batch,
        between: Callable[[], None] | None = None,
        *,
        again: bool = False,
    ) -> list[BaseException]:
        """Add spans' records to the batch, in order; returns what failed. A span that fails costs
        only itself. ``between`` is called where the batch's messages may be taken out of it. Where
        this is called ``again`` soon, spans of others may wait for our own of the same call.

        One thing is done for many spans before the next is begun: the processor's caches hold the
        code of one step, not of all (124 us a span of recorded agents became 110).
        """
        failed: list[BaseException] = []
        for start in range(0, len(spans), TOGETHER):
            self._prepare(batch)
            found: list[Told] = []
            for span in spans[start : start + TOGETHER]:
                give_way()
                try:
                    told = self._read(span)
                except BaseException as error:  # noqa: BLE001  a poison span costs only itself
                    failed.append(error)
                    continue
                if not (again and self._later.takes(told)):
                    found.append(told)
            self._land(found, batch, between, failed)
        self._land(self._later.due(batch.written_at, again), batch, between, failed)
        return failed

    def _land(
        self,
        found: Sequence[Told],
        batch: Batch,
        between: Callable[[], None] | None,
        failed: list[BaseException],
    ) -> None:
        self._prepare(batch)
        recorded: list[SpanFacts] = []
        for facts, content in found:
            give_way()
            try:
                self._records(facts, content, batch)
                if self._runs is not None:  # received: the facts of a run do not travel
                    for fact in self._runs.facts_of(facts):
                        self._facts.add(fact, batch)
                recorded.append(facts)
            except BaseException as error:  # noqa: BLE001  as above
                failed.append(error)
            if between is not None:
                between()
        for facts in recorded:
            try:
                batch.add(other_rows.span_row(facts, batch))
            except BaseException as error:  # noqa: BLE001  as above
                failed.append(error)

    def _read(self, span: ReadableSpan) -> tuple[SpanFacts, Content | None]:
        facts = self._reader.read(span)
        trace_id, span_id = facts.key
        content = self._content.take(trace_id, span_id)
        if content is None:
            content = adopt(facts, self._settings.capture_content)
        self._reader.settle(facts)
        return facts, content

    def _records(self, facts: SpanFacts, content: Content | None, batch: Batch) -> None:
        """Add the records of a span but its own row."""
        held = self._calls.nesting.ended_inside(facts)
        operation = operation_of(facts, content)
        if operation:
            held = self._operation(operation, facts, content, held or ChildRows(), batch)
        self._calls.nesting.hold(facts, held)

    def _operation(
        self,
        operation: str,
        facts: SpanFacts,
        content: Content | None,
        held: ChildRows,
        batch: Batch,
    ) -> ChildRows:
        """Add the records of a model call, tool or turn; returns what is held of its inside."""
        if operation in semconv.INFERENCE_OPERATIONS or operation in semconv.OTHER_OPERATIONS:
            said = content if isinstance(content, InferenceContent) else None
            self._calls.inference(facts, said, held, batch)
        elif operation in semconv.COMPLETING_OPERATIONS:
            said = content if isinstance(content, InferenceContent) else None
            self._calls.fetched(facts, said, batch)
        elif operation == semconv.OP_EXECUTE_TOOL:
            tool = content if isinstance(content, ToolContent) else None
            self._tool(facts, tool, held, batch)
        elif operation == semconv.OP_INVOKE_AGENT:
            turn = content if isinstance(content, TurnContent) else None
            return self._turn(facts, turn, held, batch)
        return held

    def fact(self, fact: Fact, batch: Batch) -> None:
        """Add the row of a fact that is no span's. Raises for one that cannot be read."""
        self._prepare(batch)
        self._facts.add(fact, batch)

    def running(
        self, batch: Batch, ended: Sequence[ReadableSpan] = (), *, last: bool = False
    ) -> None:
        """Add the rows of calls that have not ended, as ``RunningCalls.write``."""
        self._prepare(batch)
        self._running.write(batch, self._reader, ended, last=last)

    def finish(
        self,
        batch: Batch,
        ready: Callable[[TurnSummary], bool] | None = None,
        *,
        last: bool = False,
    ) -> None:
        """Add the rows of derived turns that changed; those that are not ``ready`` are kept.

        With ``last`` nothing more comes: turns that wait for their tools' results are over.
        """
        self._prepare(batch)
        self._derived.write(batch, ready, last=last)

    def forget(self) -> None:
        """Land every message again: a batch was lost."""
        self._message_store.forget()

    def forget_trace(
        self,
        trace_id: str,
        turn_ids: Iterable[str],
        calls: Iterable[str],
        sessions: Mapping[str, str] | None = None,
    ) -> None:
        """Forget what a trace's spans led to: they come again, in order, or no more.

        ``turn_ids`` are the decorated turns among them, ``calls`` the spans whose rows landed;
        ``sessions``, given where they come again, those in which spans have landed.
        """
        self._derived.forget_trace(trace_id, sessions)
        self._calls.nesting.forget_trace(trace_id, calls)
        for turn_id in turn_ids:
            self._decorated.forget_turn(turn_id)
            self._calls.costs.take(turn_id)

    def after_fork(self) -> None:
        """In a forked child: nothing of the parent's conversations and open turns is ours."""
        self._message_store.forget()
        if self._shared is not None:
            self._shared.after_fork()
        self._begin()
        self._facts.arbiters = self._arbiters

    def _tool(
        self, facts: SpanFacts, content: ToolContent | None, held: ChildRows, batch: Batch
    ) -> None:
        if facts.span.kind is SpanKind.SERVER and facts.parent_span_id:
            return  # an MCP server's side of a call that its client has made
        row = other_rows.tool_call(facts, content, batch)
        inner = next((tool for tool in held.tools if same_tool(tool, row)), None)
        if inner is None:
            turns = self._derived.tools.turns_of
            inner = self._sightings.tool(row, lambda: turns(facts), by_id=bool(facts.turn_id))
            if inner is not None:
                held.tools.append(inner)
        if inner is not None:  # a framework's span over the tool's own, or beside it
            if enrich_tool(inner, row):
                rewrite(inner, batch)
                self._derived.tools.changed(inner)
                self._finish_anew(inner.turn_id, batch)
            return
        if facts.turn_id:
            answered = content is not None and content.result is not None
            self._decorated.tool(facts, row, batch, answered=answered)
            if facts.foreign:
                self._finish_anew(row.turn_id, batch)
        elif not self._derived.tools.tool(facts, row, batch):
            self._sightings.unplaced(row)
        batch.add(row)
        held.tools.append(row)

    def _turn(
        self, facts: SpanFacts, content: TurnContent | None, held: ChildRows, batch: Batch
    ) -> ChildRows:
        """Add a turn's row; returns what the span around it is to know."""
        if facts.foreign and facts.turn_id:
            return ChildRows()  # part of the decorated turn around it
        turn_id = facts.turn_id or facts.span_id
        cost = self._calls.costs.take(turn_id)
        row = other_rows.turn_summary(facts, content, cost, batch)
        if facts.foreign:
            if not self._derived.agents.take_over(facts, row, held, batch):
                return held  # a wrapper around one agent is not another turn
        else:
            self._decorated.finish(row, content.turn if content is not None else None)
        mask_ending(row, batch)
        batch.add(row)
        self._calls.background.turn_ended(row)
        if cost is not None and row.parent_turn_id:
            self._calls.costs.add(row.parent_turn_id, cost)
        around = ChildRows()
        if facts.foreign:
            around.turns.append(row)
        return around

    def _finish_anew(self, turn_id: str, batch: Batch) -> None:
        row = self._decorated.finished_anew(turn_id)
        if row is not None:
            mask_ending(row, batch)
            rewrite(row, batch)

    def _prepare(self, batch: Batch) -> None:
        """Have a batch's rows redacted by the settings of now."""
        settings = self._settings_now()
        if settings is not self._settings:
            self._use(settings)
            self._message_store.forget()
        batch.redactor = self._redactor

    def _use(self, settings: config.Settings) -> None:
        self._settings = settings
        self._redactor = Redactor(settings)
        self._cleaner = Cleaner(self._redactor)
        self._origins = Origins(self._project or settings.project, self._redactor)
        self._reader = SpanReader(self._origins, self._cleaner)
        self._facts = FactRows(
            self._origins, self._cleaner, self._message_store, self._contexts, self._arbiters
        )
