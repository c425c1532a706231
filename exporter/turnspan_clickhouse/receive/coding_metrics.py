"""Metrics of coding agents: what no span, event or transcript of theirs says, as spans of sessions.

Sources: Claude Code's monitoring guide (release 2.1.197), Gemini CLI's ``docs/cli/telemetry.md``
and Codex's ``codex-rs/otel/src/metrics/names.rs``, as of November 2026. A data point is kept as a
span ``coding.metric``: a delta is one of its time, a cumulative value one of its value. So a point
that comes again is the same span, and the sum of each series' greatest value counts nothing twice,
in any order and over restarts. Codex names no session in its metrics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.resources import Resource

from turnspan import semconv
from turnspan_clickhouse.receive.decoded import Decoded, ReceivedScope, SpanFields, derived_id

DELTA: Final = 1
"""``AggregationTemporality``: the values of a sum are those since the last one."""
_LINES: Final = ("type", {"added": "lines_added", "removed": "lines_removed"})
_KEPT: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "claude_code.active_time.total": ("type", {"user": "user_seconds", "cli": "agent_seconds"}),
    "claude_code.lines_of_code.count": _LINES,
    "claude_code.commit.count": ("", {"": "commits"}),
    "claude_code.pull_request.count": ("", {"": "pull_requests"}),
    "claude_code.code_edit_tool.decision": (
        "decision",
        {"accept": "edits_accepted", "reject": "edits_rejected"},
    ),
    "gemini_cli.lines.changed": _LINES,
}
"""By metric: the attribute that says what is counted, and by its values our names."""
_SPAN: Final = "coding.metric"
_AGENTS: Final = ("claude_code.", "codex.", "gemini_cli.", "gen_ai.")
SAID_ELSEWHERE: Final = "calls, tools and sessions say it, or it is of no session"
NOT_KEPT: Final = "of metrics only those of coding agents that no other record says are kept"
NO_SESSION: Final = "it names no session (Claude Code: OTEL_METRICS_INCLUDE_SESSION_ID)"
NO_COUNT: Final = "it is no sum of numbers from 0 on that only grows"


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """A data point as either encoding has it; times in ns."""

    metric: str
    attributes: dict[str, Any]
    start: int
    time: int
    value: float | None
    """None: it has no number, or is not of a monotonic sum."""
    temporality: int
    size: int


def trace_of(session: str) -> bytes:
    """The trace in which a session's metrics are, and nothing else."""
    return derived_id(_SPAN, session)


def add_point(
    decoded: Decoded, point: MetricPoint, resource: Resource, scope: ReceivedScope
) -> None:
    """Add a data point's span to a request, or count why it is left out."""
    name, said = point.metric, point.attributes
    key, names = _KEPT.get(name, ("", {}))
    what = names.get(str(said.get(key, "")))
    session = str(said.get(semconv.SESSION_ID) or said.get(semconv.CONVERSATION_ID) or "")
    value = point.value
    if what is None:
        is_said = not names and name.startswith(_AGENTS)
        decoded.leave_out(name, SAID_ELSEWHERE if is_said else NOT_KEPT)
    elif value is None or not math.isfinite(value) or value < 0:
        decoded.leave_out(name, NO_COUNT)
    elif not session:
        decoded.leave_out(name, NO_SESSION)
    elif value:
        start = point.start or point.time
        series = [name, *(f"{key}={said[key]}" for key in sorted(said)), str(point.start)]
        if point.temporality == DELTA:
            series.append(str(point.time))
        own = series if point.temporality == DELTA else [*series, f"={value!r}"]
        attributes = {
            **said,
            semconv.CONVERSATION_ID: session,
            semconv.CODING_METRIC: what,
            semconv.CODING_METRIC_VALUE: value,
            semconv.CODING_METRIC_SERIES: derived_id(*series).hex(),
        }
        fields = SpanFields(
            trace_of(session),
            derived_id(*own)[:8],
            _SPAN,
            start,
            max(start, point.time),
            attributes,
            point.size,
        )
        decoded.add(fields, resource, scope)
