"""The metrics that are recorded: their names, units, bucket boundaries, and the instruments.

The GenAI metrics are those of the conventions (see ``semconv``); boundaries are given as advice, so
a View of the application beats them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, Observation

from turnspan import config, semconv

Callback = Callable[[CallbackOptions], Iterable[Observation]]

_SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
_TOKENS: Final = tuple(4**power for power in range(14))
_CALLS: Final = tuple(2**power for power in range(8))
_MCP: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_AGENT: Final = tuple(0.1 * 2**power for power in range(13))


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; a histogram where it has bucket boundaries, a counter where it has none."""

    name: str
    unit: str
    description: str
    buckets: Sequence[float] = ()
    falls: bool = False
    """Whether what is observed may become less: a level, no total."""


METRICS: Final = (
    Metric(semconv.METRIC_INFERENCE_DURATION, "s", "Duration of a model call.", _SECONDS),
    Metric(
        semconv.METRIC_TIME_TO_FIRST_CHUNK,
        "s",
        "Time from a streamed call's start to its first chunk.",
        _SECONDS,
    ),
    Metric(
        semconv.METRIC_TIME_PER_OUTPUT_CHUNK,
        "s",
        "Time between two chunks of a streamed reply.",
        _SECONDS,
    ),
    Metric(semconv.METRIC_INPUT_TOKENS, "{token}", "Input tokens used, cached ones included."),
    Metric(semconv.METRIC_OUTPUT_TOKENS, "{token}", "Output tokens used, reasoning included."),
    Metric(semconv.METRIC_CACHE_READ_TOKENS, "{token}", "Input tokens read from a cache."),
    Metric(semconv.METRIC_CACHE_WRITE_TOKENS, "{token}", "Input tokens written to a cache."),
    Metric(semconv.METRIC_REASONING_TOKENS, "{token}", "Output tokens used for reasoning."),
    Metric(semconv.METRIC_CALL_INPUT_TOKENS, "{token}", "Input tokens of one call.", _TOKENS),
    Metric(semconv.METRIC_CALL_OUTPUT_TOKENS, "{token}", "Output tokens of one call.", _TOKENS),
    Metric(
        semconv.METRIC_OPERATION_DURATION,
        "s",
        "Duration of a call that is no inference, such as embeddings.",
        _SECONDS,
    ),
    Metric(semconv.METRIC_AGENT_DURATION, "s", "Duration of a turn or a workflow.", _AGENT),
    Metric(
        semconv.METRIC_AGENT_INFERENCE_CALLS,
        "{inference_call}",
        "Model calls in an agent's own loop.",
        _CALLS,
    ),
    Metric(
        semconv.METRIC_AGENT_TOOL_CALLS,
        "{tool_call}",
        "Tool calls in an agent's own loop.",
        _CALLS,
    ),
    Metric(semconv.METRIC_TOOL_DURATION, "s", "Duration of an executed tool.", _SECONDS),
    Metric(semconv.METRIC_MCP_CALL_DURATION, "s", "Duration of a request to an MCP server.", _MCP),
    Metric(
        semconv.METRIC_COST,
        "{USD}",
        "What model calls cost by the price list; calls of unknown price are left out.",
    ),
)
"""What is recorded as it happens."""

OBSERVED: Final = (
    Metric(semconv.METRIC_QUEUED, "{span}", "Finished spans waiting for their export.", falls=True),
    Metric(
        semconv.METRIC_PENDING,
        "{segment}",
        "Spool segments waiting to be shipped to the store.",
        falls=True,
    ),
    Metric(semconv.METRIC_EXPORTED, "{span}", "Spans whose records were accepted."),
    # A spool's figures are the same in every process that writes it: their maximum, not the sum.
    Metric(semconv.METRIC_SPOOLED, "{row}", "Rows in the spool that have not landed.", falls=True),
    Metric(semconv.METRIC_SHIPPED, "{row}", "Rows landed from the spool."),
    Metric(
        semconv.METRIC_REJECTED,
        "{row}",
        "Rows that the store refused, set aside in the spool.",
        falls=True,
    ),
    Metric(semconv.METRIC_DROPPED, "{item}", "Spans and records lost, by reason."),
    Metric(
        semconv.METRIC_INTERNAL_ERRORS, "{error}", "Errors of Turnspan's own that were swallowed."
    ),
)
"""What is looked up whenever metrics are collected: the pipeline's own accounts."""


class Instruments:
    """The instruments of one meter."""

    def __init__(self, meter: Meter, observe: Mapping[str, Callback]) -> None:
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._meter = meter
        for metric in METRICS:
            if metric.buckets:
                self._histograms[metric.name] = self._histogram(metric.name, metric)
            else:
                self._counters[metric.name] = meter.create_counter(
                    metric.name, metric.unit, metric.description
                )
        for metric in OBSERVED:
            create: Any = meter.create_observable_counter
            if metric.falls:
                create = meter.create_observable_up_down_counter
            create(metric.name, [observe[metric.name]], metric.unit, metric.description)

    def add(self, name: str, value: float, attributes: Mapping[str, Any], context: Context) -> None:
        """Add to a counter."""
        self._counters[name].add(value, attributes, context)

    def record(
        self, name: str, value: float, attributes: Mapping[str, Any], context: Context
    ) -> None:
        """Record a value of a histogram, by its earlier name as well where that is asked for."""
        self._histograms[name].record(value, attributes, context)
        if name in semconv.EARLIER and config.active().earlier_names:
            known = {**attributes, **semconv.EARLIER_TOKEN_TYPES.get(name, {})}
            workflow = known.get(semconv.OPERATION_NAME) == semconv.OP_INVOKE_WORKFLOW
            if name != semconv.METRIC_AGENT_DURATION or workflow:
                self._earlier(name).record(value, known, context)

    def _earlier(self, name: str) -> Histogram:
        earlier = semconv.EARLIER[name]
        found = self._histograms.get(earlier)
        if found is None:
            metric = next(one for one in METRICS if one.name == name)
            found = self._histograms[earlier] = self._histogram(earlier, metric)
        return found

    def _histogram(self, name: str, metric: Metric) -> Histogram:
        unit, description, buckets = metric.unit, metric.description, metric.buckets
        return self._meter.create_histogram(
            name, unit, description, explicit_bucket_boundaries_advisory=buckets
        )
