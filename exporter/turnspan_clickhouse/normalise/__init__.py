"""Finished spans (and the content beside them) -> records."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal

from opentelemetry.sdk.trace import ReadableSpan

from turnspan import config, semconv
from turnspan.content.convert import split_request
from turnspan.content.ledger import (
    InferenceContent,
    Ledger,
    StartedTurn,
    ToolContent,
    TurnContent,
)
from turnspan.content.model import Conversation, RequestParts
from turnspan.content.redact import Redactor
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise import inference, others
from turnspan_clickhouse.normalise.derived import DerivedTurns
from turnspan_clickhouse.normalise.foreign import adopt
from turnspan_clickhouse.normalise.landing import Lander
from turnspan_clickhouse.normalise.source import Cleaner, Origins, SpanFacts, read, settle, text

MAX_OPEN_TURNS = 50_000


class Normaliser:
    """Turns spans into records; remembers what has landed and what each open turn has cost."""

    def __init__(self, ledger: Ledger, project: str = "") -> None:
        self._ledger = ledger
        self._project = project
        self._lander = Lander()
        self._costs: OrderedDict[str, Decimal] = OrderedDict()
        self._derived = DerivedTurns()
        self._settings: config.Settings = config.active()
        self._use(self._settings)

    def span(self, span: ReadableSpan, batch: Batch) -> None:
        """Add a span's records to the batch. Raises for a span that cannot be read."""
        redactor = self._current_redactor()
        facts = read(span, self._origins, self._cleaner)
        context = span.context
        assert context is not None
        content = self._ledger.take(context.trace_id, context.span_id)
        if content is None:
            content = adopt(facts, self._settings.capture_content)
        settle(facts, self._cleaner)
        operation = text(facts.raw.get(semconv.OPERATION_NAME))
        if operation in semconv.INFERENCE_OPERATIONS:
            held = content if isinstance(content, InferenceContent) else None
            self._inference(facts, held, redactor, batch)
        elif operation == semconv.OP_EXECUTE_TOOL:
            tool = content if isinstance(content, ToolContent) else None
            batch.add(others.tool_call(facts, tool, redactor, batch))
        elif operation == semconv.OP_INVOKE_AGENT:
            turn = content if isinstance(content, TurnContent) else None
            self._turn(facts, turn, redactor, batch)
        batch.add(others.span_row(facts, redactor, batch))

    def running(self, started: StartedTurn, batch: Batch) -> None:
        """Add the row of a turn that has begun."""
        self._current_redactor()
        batch.add(others.running_turn(started, self._origins, self._cleaner, batch))

    def finish(self, batch: Batch) -> None:
        """Add the rows of derived turns that the batch's spans changed."""
        self._derived.write(self._current_redactor(), batch)

    def forget(self) -> None:
        """Land every message again: a batch was lost."""
        self._lander.forget()

    def after_fork(self) -> None:
        """In a forked child: nothing of the parent's conversations and open turns is ours."""
        self._lander.forget()
        self._derived.forget()
        self._costs.clear()

    def _inference(
        self, facts: SpanFacts, content: InferenceContent | None, redactor: Redactor, batch: Batch
    ) -> None:
        row = inference.llm_call(facts, redactor, batch)
        derived = not row.turn_id and row.operation != semconv.OP_EMBEDDINGS
        request = split_request(content.dialect, content.request) if content else RequestParts()
        if derived:
            dialect = content.dialect if content is not None else ""
            self._derived.join(facts, row, dialect, request.messages_raw, redactor, batch)
        reply = Conversation()
        if content is not None:
            reply = inference.add_content(
                row, content, request, facts, self._lander, redactor, batch
            )
        batch.add(row)
        if derived:
            self._derived.reply(facts, row, reply.tool_calls)
        elif row.cost_usd is not None:
            self._add_cost(row.turn_id, row.cost_usd)

    def _turn(
        self, facts: SpanFacts, content: TurnContent | None, redactor: Redactor, batch: Batch
    ) -> None:
        turn_id = facts.turn_id or facts.span_id
        cost = self._costs.pop(turn_id, None)
        row = others.turn_summary(facts, content, cost, redactor, batch)
        batch.add(row)
        if cost is not None and row.parent_turn_id:
            self._add_cost(row.parent_turn_id, cost)

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
