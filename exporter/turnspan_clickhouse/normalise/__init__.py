"""Finished spans (and the content beside them) -> records."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from turnspan import config, semconv
from turnspan.content.convert import split_request
from turnspan.content.ledger import (
    Content,
    InferenceContent,
    Judgment,
    Ledger,
    StartedTurn,
    ToolContent,
    TurnContent,
)
from turnspan.content.model import Conversation, RequestParts
from turnspan.content.redact import Redactor
from turnspan.pace import give_way
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise import inference, others
from turnspan_clickhouse.normalise.answers import SharedAnswers
from turnspan_clickhouse.normalise.attributes import Cleaner
from turnspan_clickhouse.normalise.background import BackgroundCalls
from turnspan_clickhouse.normalise.derived import DerivedTurns
from turnspan_clickhouse.normalise.foreign import adopt
from turnspan_clickhouse.normalise.landing import Lander
from turnspan_clickhouse.normalise.nesting import (
    Held,
    Nesting,
    enrich,
    enrich_tool,
    same_call,
    same_tool,
)
from turnspan_clickhouse.normalise.requested import DecoratedTurns, again
from turnspan_clickhouse.normalise.sightings import Sightings
from turnspan_clickhouse.normalise.source import Origins, Reader, SpanFacts
from turnspan_clickhouse.normalise.values import text
from turnspan_clickhouse.records import LlmCall, TurnSummary

MAX_OPEN_TURNS = 50_000
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
        ledger: Ledger,
        project: str = "",
        *,
        received: bool = False,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._ledger = ledger
        self._project = project
        self._lander = Lander()
        self._costs: OrderedDict[str, Decimal] = OrderedDict()
        self._sightings = Sightings()
        self._derived = DerivedTurns(self._sightings, own_ids=received, shared=shared)
        self._decorated = DecoratedTurns()
        self._background = BackgroundCalls()
        self._nesting = Nesting()
        self._settings: config.Settings = config.active()
        self._use(self._settings)

    def span(self, span: ReadableSpan, batch: Batch) -> None:
        """Add a span's records to the batch. Raises for a span that cannot be read."""
        for error in self.spans([span], batch):
            raise error

    def spans(
        self,
        spans: Sequence[ReadableSpan],
        batch: Batch,
        between: Callable[[], None] | None = None,
    ) -> list[BaseException]:
        """Add spans' records to the batch, in order; returns what failed. A span that fails costs
        only itself. ``between`` is called where the batch's messages may be taken out of it.

        One thing is done for many spans before the next is begun: the processor's caches hold the
        code of one step, not of all (124 us a span of recorded agents became 110).
        """
        failed: list[BaseException] = []
        for start in range(0, len(spans), TOGETHER):
            self._together(spans[start : start + TOGETHER], batch, between, failed)
        return failed

    def _together(
        self,
        spans: Sequence[ReadableSpan],
        batch: Batch,
        between: Callable[[], None] | None,
        failed: list[BaseException],
    ) -> None:
        redactor = self._current_redactor()
        found: list[tuple[SpanFacts, Content | None]] = []
        for span in spans:
            give_way()
            try:
                found.append(self._read(span))
            except BaseException as error:  # noqa: BLE001  a poison span costs only itself
                failed.append(error)
        recorded: list[SpanFacts] = []
        for facts, content in found:
            give_way()
            try:
                self._records(facts, content, redactor, batch)
                recorded.append(facts)
            except BaseException as error:  # noqa: BLE001  as above
                failed.append(error)
            if between is not None:
                between()
        for facts in recorded:
            try:
                batch.add(others.span_row(facts, redactor, batch))
            except BaseException as error:  # noqa: BLE001  as above
                failed.append(error)

    def _read(self, span: ReadableSpan) -> tuple[SpanFacts, Content | None]:
        facts = self._reader.read(span)
        trace_id, span_id = facts.key
        content = self._ledger.take(trace_id, span_id)
        if content is None:
            content = adopt(facts, self._settings.capture_content)
        self._reader.settle(facts)
        return facts, content

    def _records(
        self, facts: SpanFacts, content: Content | None, redactor: Redactor, batch: Batch
    ) -> None:
        """Add the records of a span but its own row."""
        held = self._nesting.ended_inside(facts)
        operation = _operation_of(facts, content)
        if operation:
            held = self._operation(operation, facts, content, held or Held(), redactor, batch)
        self._nesting.hold(facts, held)

    def _operation(
        self,
        operation: str,
        facts: SpanFacts,
        content: Content | None,
        held: Held,
        redactor: Redactor,
        batch: Batch,
    ) -> Held:
        """Add the records of a model call, tool or turn; returns what is held of its inside."""
        if operation in semconv.INFERENCE_OPERATIONS:
            said = content if isinstance(content, InferenceContent) else None
            self._inference(facts, said, held, redactor, batch)
        elif operation in semconv.COMPLETING_OPERATIONS:
            said = content if isinstance(content, InferenceContent) else None
            self._fetched(facts, said, redactor, batch)
        elif operation == semconv.OP_EXECUTE_TOOL:
            tool = content if isinstance(content, ToolContent) else None
            self._tool(facts, tool, held, redactor, batch)
        elif operation == semconv.OP_INVOKE_AGENT:
            turn = content if isinstance(content, TurnContent) else None
            return self._turn(facts, turn, held, redactor, batch)
        return held

    def running(self, started: StartedTurn, batch: Batch) -> None:
        """Add the row of a turn that has begun."""
        self._current_redactor()
        batch.add(others.running_turn(started, self._origins, self._cleaner, batch))

    def judged(self, judgment: Judgment, batch: Batch) -> None:
        """Add the row of a judgment."""
        redactor = self._current_redactor()
        project = self._origins.of(judgment.resource).project
        batch.add(others.annotation(judgment, project, redactor, batch.written_at))

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
        self._derived.write(self._current_redactor(), batch, ready, last=last)

    def forget(self) -> None:
        """Land every message again: a batch was lost."""
        self._lander.forget()

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
        self._nesting.forget_trace(trace_id, calls)
        for turn_id in turn_ids:
            self._decorated.forget_turn(turn_id)
            self._costs.pop(turn_id, None)

    def after_fork(self) -> None:
        """In a forked child: nothing of the parent's conversations and open turns is ours."""
        self._lander.forget()
        self._derived.forget()
        self._decorated.forget()
        self._background.clear()
        self._nesting.forget()
        self._sightings.forget()
        self._costs.clear()

    def _inference(
        self,
        facts: SpanFacts,
        content: InferenceContent | None,
        held: Held,
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        row = inference.llm_call(facts, redactor, batch)
        request = split_request(content.dialect, content.request) if content else RequestParts()
        inner = next((c for c in reversed(held.calls) if same_call(c, row.operation)), None)
        if inner is None and self._nesting.is_inside_counted(facts):
            if row.turn_id and not facts.foreign:
                self._decorated.same(row)
            return
        if inner is None and self._sightings.may_see_calls_twice(row):
            inner = self._sightings.call(row, inference.output_of(content))
            if inner is not None:
                held.calls.append(inner)
                if row.turn_id and not facts.foreign and inner.turn_id == row.turn_id:
                    self._decorated.same(row)
        if inner is None:
            self._count(facts, row, content, request, held, redactor, batch)
            return
        # The same call seen from outside: what it knows more is kept.
        row.session_id, row.turn_id = inner.session_id, inner.turn_id
        self._land(facts, row, content, request, redactor, batch)
        if enrich(inner, row):
            again(inner, batch)

    def _count(
        self,
        facts: SpanFacts,
        row: LlmCall,
        content: InferenceContent | None,
        request: RequestParts,
        held: Held,
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        """Add the row of a call that nobody else has told of, and its turn's."""
        dialect = content.dialect if content is not None else ""
        derived = not row.turn_id and row.operation != semconv.OP_EMBEDDINGS
        if derived:
            self._derived.join(facts, row, dialect, request, redactor, batch)
        elif row.turn_id:
            self._decorated.call(facts, row, dialect, request.messages_raw, redactor, batch)
        reply = self._land(facts, row, content, request, redactor, batch)
        batch.add(row)
        self._background.made(facts, row)
        held.calls.append(row)
        self._sightings.landed(row, reply.output)
        if facts.parent_span_id:
            self._nesting.counted(facts.span_id)
        if derived:
            self._derived.reply(facts, row, reply, dialect)
            if held.tools:
                self._derived.inside(facts, row, held.tools, batch)
            return
        if row.turn_id and row.operation != semconv.OP_EMBEDDINGS:
            self._decorated.reply(facts, row, reply.tool_calls)
        if row.turn_id and row.cost_usd is not None:
            self._add_cost(row.turn_id, row.cost_usd)

    def _fetched(
        self, facts: SpanFacts, content: InferenceContent | None, redactor: Redactor, batch: Batch
    ) -> None:
        """What a model said in the background: no call of its own, so nothing counts it."""
        row = inference.llm_call(facts, redactor, batch)
        reply = self._land(facts, row, content, RequestParts(), redactor, batch)
        if content is not None:
            batch.add(row)
        made = self._background.completed(facts, row, batch)
        if row.turn_id and not facts.foreign:
            self._decorated.reply(facts, row, reply.tool_calls)
        if made is None:
            return
        if self._derived.completed(made, reply, facts.end_time):
            return
        if not self._background.complete_turn(made, batch) and made.cost_usd is not None:
            self._add_cost(made.turn_id, made.cost_usd)

    def _land(
        self,
        facts: SpanFacts,
        row: LlmCall,
        content: InferenceContent | None,
        request: RequestParts,
        redactor: Redactor,
        batch: Batch,
    ) -> Conversation:
        if content is None:
            return Conversation()
        if not content.captured:  # it tells whose the call is; none of it is written
            return inference.reply_of(row, content)
        return inference.add_content(row, content, request, facts, self._lander, redactor, batch)

    def _tool(
        self,
        facts: SpanFacts,
        content: ToolContent | None,
        held: Held,
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        if facts.span.kind is SpanKind.SERVER and facts.parent_span_id:
            return  # an MCP server's side of a call that its client has made
        row = others.tool_call(facts, content, redactor, batch)
        inner = next((tool for tool in held.tools if same_tool(tool, row)), None)
        if inner is None:
            inner = self._sightings.tool(row)
            if inner is not None:
                held.tools.append(inner)
        if inner is not None:  # a framework's span over the tool's own, or beside it
            if enrich_tool(inner, row):
                again(inner, batch)
                self._derived.changed(inner)
            return
        if facts.turn_id:
            self._decorated.tool(facts, row, redactor)
        else:
            self._derived.tool(facts, row, redactor)
        batch.add(row)
        held.tools.append(row)

    def _turn(
        self,
        facts: SpanFacts,
        content: TurnContent | None,
        held: Held,
        redactor: Redactor,
        batch: Batch,
    ) -> Held:
        """Add a turn's row; returns what the span around it is to know."""
        if facts.foreign and facts.turn_id:
            return Held()  # part of the decorated turn around it
        turn_id = facts.turn_id or facts.span_id
        cost = self._costs.pop(turn_id, None)
        row = others.turn_summary(facts, content, cost, redactor, batch)
        if facts.foreign:
            if not self._derived.agents.take_over(facts, row, held, batch):
                return held  # a wrapper around one agent is not another turn
        else:
            self._decorated.finish(row, content.turn if content is not None else None)
        # Both may have judged the turn anew, by the raw names of its tools.
        row.stop_reason = redactor.text(row.stop_reason, "error")
        row.stop_detail = redactor.text(row.stop_detail, "error")
        batch.add(row)
        self._background.turn_ended(row)
        if cost is not None and row.parent_turn_id:
            self._add_cost(row.parent_turn_id, cost)
        around = Held()
        if facts.foreign:
            around.turns.append(row)
        return around

    def _add_cost(self, turn_id: str, cost: Decimal) -> None:
        self._costs[turn_id] = self._costs.get(turn_id, Decimal(0)) + cost
        if len(self._costs) > MAX_OPEN_TURNS:
            self._costs.popitem(last=False)

    def _current_redactor(self) -> Redactor:
        settings = config.active()
        if settings is not self._settings:
            self._use(settings)
            self._lander.forget()
        return self._redactor

    def _use(self, settings: config.Settings) -> None:
        self._settings = settings
        self._redactor = Redactor(settings)
        self._cleaner = Cleaner(self._redactor)
        self._origins = Origins(self._project or settings.project, self._redactor)
        self._reader = Reader(self._origins, self._cleaner)


def _operation_of(facts: SpanFacts, content: Content | None) -> str:
    """What the span is of: as its content tells, else its attribute.

    Others write on the spans of ours that are current when they record a call (LiteLLM does), and
    the operation's name is among what they write.
    """
    if not facts.foreign:
        if isinstance(content, TurnContent):
            return semconv.OP_INVOKE_AGENT
        if isinstance(content, ToolContent):
            return semconv.OP_EXECUTE_TOOL
    return text(facts.raw.get(semconv.OPERATION_NAME))
