"""Whether spans, metrics and events are what the GenAI conventions say: a list of what is not."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.metrics.export import Histogram, Metric
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, StatusCode, TraceState
from opentelemetry.util.types import Attributes

from support.semconv_registry import Group, registry

_CONVENTIONAL = ("gen_ai.", "openai.", "anthropic.", "aws.", "azure.", "mcp.")
_CORE = frozenset({"error.type", "server.address", "server.port", "user.id"})
_CONTEXT = frozenset({"gen_ai.agent.name", "gen_ai.conversation.id"})
"""What we say of every span inside a turn or session, listed for its kind or not: whose it is."""

_INFERENCE = "gen_ai.client.inference"
_TYPES: Mapping[tuple[str, SpanKind], str] = {
    ("chat", SpanKind.CLIENT): _INFERENCE,
    ("generate_content", SpanKind.CLIENT): _INFERENCE,
    ("text_completion", SpanKind.CLIENT): _INFERENCE,
    ("embeddings", SpanKind.CLIENT): "gen_ai.embeddings.client",
    ("fetch_response", SpanKind.CLIENT): "gen_ai.fetch_response.client",
    ("invoke_agent", SpanKind.INTERNAL): "gen_ai.invoke_agent.internal",
    ("execute_tool", SpanKind.INTERNAL): "gen_ai.execute_tool.internal",
    ("invoke_workflow", SpanKind.INTERNAL): "gen_ai.invoke_agent.internal",
}
_NAMED_BY: Mapping[str, str] = {
    _INFERENCE: "gen_ai.request.model",
    "gen_ai.embeddings.client": "gen_ai.request.model",
    "gen_ai.fetch_response.client": "",
    "gen_ai.invoke_agent.internal": "gen_ai.agent.name",
    "gen_ai.execute_tool.internal": "gen_ai.tool.name",
}
_REFINED: Mapping[tuple[str, str], str] = {
    (_INFERENCE, "openai"): "openai.gen_ai.client.inference",
    (_INFERENCE, "anthropic"): "anthropic.gen_ai.client.inference",
    (_INFERENCE, "azure.ai.inference"): "azure.ai.gen_ai.client.inference",
    (_INFERENCE, "aws.bedrock"): "aws.bedrock.gen_ai.client.inference",
    ("gen_ai.fetch_response.client", "openai"): "openai.fetch_response.client",
}


class Witness(Sampler, SpanProcessor):
    """A sampler that samples everything and remembers which attributes it was given for it."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._seen: dict[int, Mapping[str, Any]] = {}

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Sample it."""
        self._local.given = dict(attributes or {})
        return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)

    def get_description(self) -> str:
        """Its name."""
        return "Witness"

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """The span whose attributes were given last, on this thread, has begun."""
        context = span.get_span_context()
        self._seen[context.span_id] = self._local.given

    def given(self, span: ReadableSpan) -> Mapping[str, Any]:
        """The attributes that a sampler was given for a span."""
        assert span.context is not None
        return self._seen[span.context.span_id]


def span_faults(
    span: ReadableSpan, at_start: Mapping[str, Any], *, content: bool = False
) -> list[str]:
    """What is wrong with a span; ``content``: whether opt-in content may be on it."""
    attributes = dict(span.attributes or {})
    operation = attributes.get("gen_ai.operation.name")
    faults = _name_faults(attributes)
    if operation is None:
        # Not a kind of span that the conventions know: a step. It may only say whose it is.
        allowed = _CONTEXT
        faults += [f"{n} without an operation" for n in _conventional(attributes) - allowed]
    else:
        kind = _TYPES.get((str(operation), span.kind))
        if kind is None:
            faults.append(f"no kind of span for {operation} {span.kind}")
        else:
            faults += _kind_faults(span, kind, attributes, at_start, content)
    where = f"{span.name} ({span.instrumentation_scope and span.instrumentation_scope.name})"
    return [f"{where}: {fault}" for fault in faults]


def _kind_faults(
    span: ReadableSpan,
    kind: str,
    attributes: Mapping[str, Any],
    at_start: Mapping[str, Any],
    content: bool,
) -> list[str]:
    known = registry()
    groups = [known.spans[kind]]
    refined = _REFINED.get((kind, attributes.get("gen_ai.provider.name", "")))
    if refined is not None:
        groups.append(known.refinements[refined])
    listed = {name for group in groups for name in group.attributes}
    required = {name for group in groups for name in group.required()}
    sampling = {name for group in groups for name in group.sampling()}
    opt_in = {n for group in groups for n, use in group.attributes.items() if use.level == "opt_in"}
    faults = [f"{n} is not listed" for n in _conventional(attributes) - listed - _CONTEXT]
    faults += [f"{n} is missing" for n in required - set(attributes)]
    faults += [
        f"{n} was {at_start.get(n)!r} at the start"
        for n in sampling & set(attributes)
        if at_start.get(n) != attributes[n]
    ]
    if not content:
        faults += [f"{n} was not asked for" for n in opt_in & set(attributes)]
    named = attributes.get(_NAMED_BY[kind], "")
    expected = " ".join(part for part in (attributes["gen_ai.operation.name"], named) if part)
    if span.name != expected:
        faults.append(f"its name should be {expected!r}")
    return faults + _condition_faults(span, kind, attributes)


def _condition_faults(span: ReadableSpan, kind: str, attributes: Mapping[str, Any]) -> list[str]:
    faults: list[str] = []
    if ("server.address" in attributes) != ("server.port" in attributes):
        faults.append("server.address and server.port belong together")
    failed = span.status.status_code is StatusCode.ERROR
    if failed != ("error.type" in attributes):
        faults.append("error.type and an error status belong together")
    if attributes.get("gen_ai.request.choice.count") == 1:
        faults.append("a choice count of 1 is left out")
    if attributes.get("gen_ai.request.stream") is False:
        faults.append("gen_ai.request.stream is left out of what is no stream")
    chunked = "gen_ai.response.time_to_first_chunk" in attributes
    if kind == _INFERENCE and chunked and attributes.get("gen_ai.request.stream") is not True:
        faults.append("a time to first chunk, but no gen_ai.request.stream")
    if attributes.get("openai.request.service_tier") == "auto":
        faults.append("a service tier of auto is left out")
    total = attributes.get("gen_ai.usage.input_tokens")
    subsets = ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_write.input_tokens")
    if total is not None and sum(attributes.get(name, 0) for name in subsets) > total:
        faults.append("more cached tokens than input tokens")
    return faults


def _name_faults(attributes: Mapping[str, Any]) -> list[str]:
    known = registry()
    faults: list[str] = []
    for name, value in attributes.items():
        if name.startswith(_CONVENTIONAL) and name not in known.types:
            faults.append(f"{name} is unknown to the conventions")
        elif not name.startswith((*_CONVENTIONAL, "turnspan.")) and name not in _CORE:
            faults.append(f"{name} is nobody's name")
        wrong = known.wrong_type(name, value)
        if wrong:
            faults.append(wrong)
    return faults


def _conventional(attributes: Iterable[str]) -> set[str]:
    return {name for name in attributes if name.startswith(_CONVENTIONAL)}


def metric_faults(metric: Metric) -> list[str]:
    """What is wrong with a GenAI metric and its points."""
    group = registry().metrics.get(metric.name)
    if group is None:
        return [f"{metric.name} is unknown to the conventions"]
    kind = "histogram" if isinstance(metric.data, Histogram) else "counter"
    faults: list[str] = []
    if (kind, metric.unit) != (group.kind, group.unit):
        faults.append(f"a {kind} of {metric.unit}, not a {group.kind} of {group.unit}")
    for point in metric.data.data_points:
        faults += _use_faults(dict(point.attributes or {}), group)
    return [f"{metric.name}: {fault}" for fault in faults]


def event_faults(name: str | None, attributes: Mapping[str, Any]) -> list[str]:
    """What is wrong with a GenAI event."""
    known = registry()
    group = known.events.get(name or "")
    if group is None:
        return [f"{name} is unknown to the conventions"]
    listed = dict(group.attributes)
    if name == "gen_ai.client.operation.exception":  # may repeat what the span says
        listed |= known.spans[_INFERENCE].attributes
    refined = _REFINED.get((_INFERENCE, str(attributes.get("gen_ai.provider.name", ""))))
    if refined is not None:
        listed |= known.refinements[refined].attributes
    ours = {key: value for key, value in attributes.items() if not key.startswith("turnspan.")}
    faults = _use_faults(ours, Group(group.kind, group.unit, listed))
    return [f"{name}: {fault}" for fault in faults]


def _use_faults(attributes: Mapping[str, Any], group: Group) -> list[str]:
    allowed = set(group.attributes) | _CONTEXT | {"user.id"}
    faults = [f"{name} is not listed" for name in set(attributes) - allowed]
    faults += [f"{name} is missing" for name in group.required() - set(attributes)]
    for name, value in attributes.items():
        wrong = registry().wrong_type(name, value)
        if wrong:
            faults.append(wrong)
    return faults
