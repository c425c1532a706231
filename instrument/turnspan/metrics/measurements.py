"""What is measured of a call, an agent's turn, a tool and a workflow when it has ended.

Made on the thread that ran it, which pays for one small object; turned into metrics on another
(``metrics``), where a dozen instruments cost what they cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from turnspan import config, semconv

if TYPE_CHECKING:
    from decimal import Decimal

    from turnspan.metrics.instruments import Instruments
    from turnspan.turn.turn import TokenUsage

_MAX_LABELS: Final = 10_000

Pricer = Callable[[dict[str, Any], "TokenUsage", int], "Decimal | None"]
"""``pricer(attributes, usage, when)``: the cost of a call in USD, ``None`` where it is not known.

``attributes`` are those of the call's span; ``when`` is in ns since the epoch.
"""

_INFERENCE: Final = frozenset(
    {semconv.OP_CHAT, semconv.OP_TEXT_COMPLETION, semconv.OP_GENERATE_CONTENT}
)
_CALL_ATTRIBUTES: Final = (
    semconv.OPERATION_NAME,
    semconv.PROVIDER_NAME,
    semconv.REQUEST_MODEL,
    semconv.SERVER_ADDRESS,
    semconv.SERVER_PORT,
)
_TEXT: Final = {semconv.TOKEN_MODALITY: "text"}
_MODALITIES: Final = {"image": "image", "audio": "audio", "video": "unknown"}
"""Modalities but text, and what the conventions call them."""
_NO_SPAN: Final = Context()


class Measurement(Protocol):
    """Something that ended."""

    def into(self, instruments: Instruments, pricer: Pricer | None) -> None:
        """Record it."""
        ...


def _context(span: SpanContext) -> Context:
    """What ties a measurement to its span as an exemplar, where the span was sampled."""
    if span.trace_flags.sampled:
        return set_span_in_context(NonRecordingSpan(span), _NO_SPAN)
    return _NO_SPAN


class _Labels:
    """Values of metric attributes, redacted; they are few and repeat, so they are remembered."""

    def __init__(self) -> None:
        self._settings: config.Settings | None = None
        self._known: dict[tuple[str, str], str] = {}

    def of(self, name: str, value: Any) -> Any:
        """The value as a metric may carry it."""
        if type(value) is not str or not value:
            return value
        settings = config.active()
        if settings is not self._settings or len(self._known) > _MAX_LABELS:
            self._settings, self._known = settings, {}
        found = self._known.get((name, value))
        if found is None:
            # The masks: loaded with the first text that needs them.
            from turnspan.redaction.redactor import Redactor

            found = Redactor(settings).text(value, f"attribute:{name}")
            self._known[name, value] = found
        return found


_labels = _Labels()


@dataclass(slots=True)
class CallEnded:
    """A model call or another call to a provider. Moments are ``time.perf_counter()``'s."""

    started: Mapping[str, Any]
    """The span's attributes at its start."""
    ended: Mapping[str, Any]
    """The span's attributes of its end."""
    usage: TokenUsage | None
    began: float
    first_chunk: float | None
    chunks: Sequence[float] | None
    """When each further chunk came."""
    span: SpanContext
    until: float = field(default_factory=time.perf_counter)
    when: int = field(default_factory=time.time_ns)
    """The time of day at its end, in ns since the epoch."""

    def into(self, instruments: Instruments, pricer: Pricer | None) -> None:
        """Record the call's duration and, for a model call, its chunks, tokens and cost."""
        started, ended = self.started, self.ended
        attributes = {
            name: _labels.of(name, started[name]) for name in _CALL_ATTRIBUTES if name in started
        }
        model = ended.get(semconv.RESPONSE_MODEL)
        if model:
            attributes[semconv.RESPONSE_MODEL] = _labels.of(semconv.RESPONSE_MODEL, model)
        error = _labels.of(semconv.ERROR_TYPE, ended.get(semconv.ERROR_TYPE))
        timed = {**attributes, semconv.ERROR_TYPE: error} if error else attributes
        context = _context(self.span)
        duration = self.until - self.began
        if started.get(semconv.OPERATION_NAME) in _INFERENCE:
            instruments.record(semconv.METRIC_INFERENCE_DURATION, duration, timed, context)
            self._chunks_into(instruments, attributes, context)
            if self.usage is not None:
                self._usage_into(instruments, self.usage, attributes, context)
        else:
            instruments.record(semconv.METRIC_OPERATION_DURATION, duration, timed, context)
        if pricer is not None and self.usage is not None:
            when = self.when - int(duration * 1e9)
            cost = pricer({**started, **ended}, self.usage, when)
            if cost is not None:
                instruments.add(semconv.METRIC_COST, float(cost), attributes, context)

    def _chunks_into(
        self, instruments: Instruments, attributes: Mapping[str, Any], context: Context
    ) -> None:
        last = self.first_chunk
        if last is None:
            return
        first = last - self.began
        instruments.record(semconv.METRIC_TIME_TO_FIRST_CHUNK, first, attributes, context)
        for chunk in self.chunks or ():
            instruments.record(
                semconv.METRIC_TIME_PER_OUTPUT_CHUNK, chunk - last, attributes, context
            )
            last = chunk

    def _usage_into(
        self,
        instruments: Instruments,
        usage: TokenUsage,
        attributes: Mapping[str, Any],
        context: Context,
    ) -> None:
        for name, tokens, kind in (
            (semconv.METRIC_INPUT_TOKENS, usage.input_tokens, semconv.INPUT),
            (semconv.METRIC_OUTPUT_TOKENS, usage.output_tokens, semconv.OUTPUT),
            (semconv.METRIC_CACHE_READ_TOKENS, usage.cache_read_tokens, semconv.CACHE_READ),
            (semconv.METRIC_CACHE_WRITE_TOKENS, usage.cache_write_tokens, ""),
            (semconv.METRIC_REASONING_TOKENS, usage.reasoning_tokens, ""),
        ):
            if tokens is None:
                continue
            text: int = tokens
            for modality, called in _MODALITIES.items():
                count = self.ended.get(semconv.USAGE_BY_MODALITY.get((kind, modality), ""))
                if isinstance(count, int):
                    text -= count
                    modal = {**attributes, semconv.TOKEN_MODALITY: called}
                    instruments.add(name, count, modal, context)
            if text > 0 or text == tokens:
                instruments.add(name, text, {**attributes, **_TEXT}, context)
        for name, tokens in (
            (semconv.METRIC_CALL_INPUT_TOKENS, usage.input_tokens),
            (semconv.METRIC_CALL_OUTPUT_TOKENS, usage.output_tokens),
        ):
            if tokens is not None:
                instruments.record(name, tokens, attributes, context)


@dataclass(slots=True)
class AgentEnded:
    """An agent's turn; ``inference_calls`` and ``tool_calls`` are those of its own loop."""

    agent: str
    error: str
    duration: float
    inference_calls: int
    tool_calls: int
    span: SpanContext

    def into(self, instruments: Instruments, pricer: Pricer | None) -> None:
        """Record the turn's duration and its calls."""
        name = _labels.of(semconv.AGENT_NAME, self.agent)
        attributes = {semconv.AGENT_NAME: name} if name else {}
        timed = {semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT, **attributes}
        if self.error:
            timed[semconv.ERROR_TYPE] = self.error
        context = _context(self.span)
        instruments.record(semconv.METRIC_AGENT_DURATION, self.duration, timed, context)
        instruments.record(
            semconv.METRIC_AGENT_INFERENCE_CALLS, self.inference_calls, attributes, context
        )
        instruments.record(semconv.METRIC_AGENT_TOOL_CALLS, self.tool_calls, attributes, context)


@dataclass(slots=True)
class ToolEnded:
    """An executed tool."""

    name: str
    type: str
    agent: str
    error: str
    duration: float
    span: SpanContext

    def into(self, instruments: Instruments, pricer: Pricer | None) -> None:
        """Record the tool's duration."""
        attributes = {
            semconv.TOOL_NAME: self.name,
            semconv.TOOL_TYPE: self.type,
            semconv.AGENT_NAME: self.agent,
            semconv.ERROR_TYPE: self.error,
        }
        known = {name: _labels.of(name, value) for name, value in attributes.items() if value}
        instruments.record(semconv.METRIC_TOOL_DURATION, self.duration, known, _context(self.span))


@dataclass(slots=True)
class WorkflowEnded:
    """A workflow."""

    name: str
    error: str
    duration: float
    span: SpanContext

    def into(self, instruments: Instruments, pricer: Pricer | None) -> None:
        """Record the workflow's duration."""
        attributes = {
            semconv.OPERATION_NAME: semconv.OP_INVOKE_WORKFLOW,
            semconv.AGENT_NAME: self.name,
            semconv.ERROR_TYPE: self.error,
        }
        known = {name: _labels.of(name, value) for name, value in attributes.items() if value}
        instruments.record(semconv.METRIC_AGENT_DURATION, self.duration, known, _context(self.span))


@dataclass(slots=True)
class McpCallEnded:
    """A request to an MCP server, with the metric's attributes."""

    attributes: Mapping[str, str]
    duration: float
    span: SpanContext

    def into(self, instruments: Instruments, pricer: Pricer | None) -> None:
        """Record the request's duration."""
        known = {name: _labels.of(name, value) for name, value in self.attributes.items() if value}
        instruments.record(
            semconv.METRIC_MCP_CALL_DURATION, self.duration, known, _context(self.span)
        )
