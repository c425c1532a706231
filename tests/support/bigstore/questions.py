"""The questions of benchmarks/queries.py: ours, and the same over ``otel_traces``."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_records.diagnostics import diagnostics

_OPERATION = "SpanAttributes['gen_ai.operation.name']"
_TURN = f"{_OPERATION} = 'invoke_agent'"
_CALL = f"{_OPERATION} = 'chat'"
_TOOL = f"{_OPERATION} = 'execute_tool'"
_REASON = "SpanAttributes['turnspan.turn.stop_reason']"
_ROUNDS = "toUInt32OrZero(SpanAttributes['turnspan.turn.rounds'])"
_TOOLS = "toUInt32OrZero(SpanAttributes['turnspan.turn.tool_calls'])"
_SESSION = "SpanAttributes['gen_ai.conversation.id']"
_MODEL = "SpanAttributes['gen_ai.response.model']"
_INPUT = "toUInt64OrNull(SpanAttributes['gen_ai.usage.input_tokens'])"
_OUTPUT = "toUInt64OrNull(SpanAttributes['gen_ai.usage.output_tokens'])"
_CACHED = "toUInt64OrNull(SpanAttributes['gen_ai.usage.cache_read.input_tokens'])"
_SAID = "left(SpanAttributes['gen_ai.input.messages'], 240)"

OF_DIAGNOSTICS: dict[str, str] = {
    "how_turns_end": f"""
        SELECT {_REASON} AS reason, count() AS turns, avg({_ROUNDS}), avg({_TOOLS}),
            quantile(0.5)(Duration), quantile(0.95)(Duration)
        FROM otel_traces WHERE {_TURN} GROUP BY reason ORDER BY turns DESC""",
    "early_stops": f"""
        SELECT Timestamp, {_SESSION}, SpanId, {_REASON}, {_ROUNDS}, {_TOOLS}, {_SAID}
        FROM otel_traces WHERE {_TURN} AND {_REASON} != 'completed' AND {_ROUNDS} < 3
        ORDER BY Timestamp DESC LIMIT 20""",
    "silent_turns": f"""
        SELECT Timestamp, {_SESSION}, SpanId, {_REASON}, {_ROUNDS}, {_SAID} FROM otel_traces
        WHERE {_TURN} AND ({_REASON} IN ('silent_rounds', 'empty_no_tools')
            OR toUInt32OrZero(SpanAttributes['turnspan.turn.silent_rounds']) >= 30)
        ORDER BY Timestamp DESC LIMIT 20""",
    "loops": f"""
        SELECT Timestamp, {_SESSION}, SpanId, {_REASON}, {_ROUNDS},
            toUInt32OrZero(SpanAttributes['turnspan.turn.max_identical_tool_streak']) AS streak,
            {_SAID}
        FROM otel_traces
        WHERE {_TURN} AND (streak >= 3
            OR toUInt32OrZero(SpanAttributes['turnspan.turn.no_progress_rounds']) >= 3)
        ORDER BY streak DESC, Timestamp DESC LIMIT 20""",
    "failing_tools": f"""
        SELECT SpanAttributes['gen_ai.tool.name'] AS tool,
            countIf(StatusCode = 'Error') AS failures, count() AS calls,
            argMaxIf(StatusMessage, Timestamp, StatusCode = 'Error')
        FROM otel_traces WHERE {_TOOL} GROUP BY tool HAVING failures > 0
        ORDER BY failures DESC LIMIT 20""",
    "tool_usage": f"""
        SELECT SpanAttributes['gen_ai.tool.name'] AS tool, count() AS calls,
            uniq(SpanAttributes['turnspan.turn.id']), uniq({_SESSION}),
            quantileTDigest(0.5)(Duration), quantileTDigest(0.95)(Duration), sum(Duration)
        FROM otel_traces WHERE {_TOOL} GROUP BY tool ORDER BY calls DESC LIMIT 20""",
    "slow_calls": f"""
        SELECT Timestamp, {_MODEL}, Duration, {_INPUT}, {_OUTPUT}, {_SESSION}, SpanId
        FROM otel_traces WHERE {_CALL} ORDER BY Duration DESC LIMIT 20""",
    "expensive_calls": f"""
        SELECT Timestamp, {_MODEL}, {_INPUT} AS input, {_OUTPUT} AS output, {_SESSION}, SpanId
        FROM otel_traces WHERE {_CALL} ORDER BY input + 4 * output DESC LIMIT 20""",
    "context_growth": f"""
        SELECT {_SESSION} AS session, count(), argMin({_INPUT}, Timestamp) AS first,
            max({_INPUT}) AS largest, argMax({_INPUT}, Timestamp), sum({_CACHED}) / sum({_INPUT})
        FROM otel_traces WHERE {_CALL} GROUP BY session ORDER BY largest - first DESC LIMIT 20""",
    "usage_by_model_and_day": f"""
        SELECT toDate(Timestamp) AS day, {_MODEL} AS model, count() AS calls, sum({_INPUT}),
            sum({_CACHED}), sum({_OUTPUT}), quantileTDigest(0.5)(Duration),
            quantileTDigest(0.95)(Duration)
        FROM otel_traces WHERE {_CALL} GROUP BY day, model ORDER BY day DESC, calls DESC
        LIMIT 20""",
    "errors_by_type": f"""
        SELECT {_OPERATION} AS what, SpanAttributes['error.type'] AS type, count() AS times,
            min(Timestamp), max(Timestamp), argMax(StatusMessage, Timestamp)
        FROM otel_traces WHERE StatusCode = 'Error' GROUP BY what, type ORDER BY times DESC
        LIMIT 20""",
}
"""By diagnostic. ``unfinished_turns`` has none: OpenTelemetry knows no span that has not ended."""

OF_SEEDS: dict[str, str] = {
    "agent_telemetry, 1": f"""
        SELECT {_REASON} AS reason, count(), round(avg({_ROUNDS}), 1) FROM otel_traces
        WHERE {_TURN} GROUP BY reason ORDER BY 2 DESC""",
    "agent_telemetry, 2": f"""
        SELECT Timestamp, ServiceName, SpanAttributes['gen_ai.input.messages'], {_REASON},
            {_ROUNDS}, {_TOOLS}
        FROM otel_traces WHERE {_TURN} AND {_REASON} != 'completed' AND {_ROUNDS} < 3
        ORDER BY Timestamp DESC""",
    "agent_telemetry, 3": f"""
        SELECT Timestamp, {_OPERATION}, SpanAttributes['gen_ai.output.messages'] FROM otel_traces
        WHERE {_SESSION} = '<thread_id>' ORDER BY Timestamp""",
    "agent_telemetry, 4": f"SELECT * FROM otel_traces WHERE {_CALL} LIMIT 10",
    "ephemera_agent_log, 1": f"""
        SELECT SpanId, Timestamp, SpanAttributes['turnspan.turn.models'] FROM otel_traces
        WHERE {_TURN} ORDER BY Timestamp DESC LIMIT 20""",
    "ephemera_agent_log, 2": f"""
        SELECT SpanId, Timestamp, SpanAttributes['turnspan.turn.target'] FROM otel_traces
        WHERE {_TURN} ORDER BY Timestamp DESC""",
    "ephemera_agent_log, 3": f"""
        SELECT {_SESSION}, SpanAttributes['gen_ai.input.messages'],
            SpanAttributes['gen_ai.output.messages'] FROM otel_traces WHERE {_TURN} LIMIT 10""",
}
"""By seed query; judgments have no place in ``otel_traces`` and are left out there."""

REPLAY = f"SELECT * FROM otel_traces WHERE {_SESSION} = '<thread_id>' ORDER BY Timestamp"


@dataclass(frozen=True, slots=True)
class Question:
    """One question in both stores' SQL; ``theirs`` is empty where they cannot answer it."""

    name: str
    ours: str
    theirs: str


def of_diagnostics() -> list[Question]:
    """Every shipped diagnostic over all of time."""
    return [
        Question(name, one.sql, OF_DIAGNOSTICS.get(name, "")) for name, one in diagnostics().items()
    ]


def of_seeds(seeds: dict[str, str], session: str) -> list[Question]:
    """The seed queries, for one session."""
    return [
        Question(
            name,
            sql.replace("<thread_id>", session),
            OF_SEEDS[name].replace("<thread_id>", session),
        )
        for name, sql in seeds.items()
    ]


VIEWS: dict[str, str] = {
    f"{view}: {name}": f"SELECT * FROM {view} {rest}"
    for view, time in (
        ("llm_call_full", "start_time"),
        ("turn_full", "start_time"),
        ("agent_telemetry", "created_at"),
        ("ephemera_agent_log", "id"),
    )
    for name, rest in (
        ("LIMIT 10", "LIMIT 10"),
        ("newest 10", f"ORDER BY {time} DESC LIMIT 10"),
        ("one session", "WHERE session_id = '<session>'"),
        ("one turn", "WHERE turn_id = '<turn>'"),
    )
}
"""All columns of every view, contents included, as people look at them."""
