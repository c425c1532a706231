"""The same spans as the OpenTelemetry Collector's ClickHouse exporter would have stored them.

The table has that exporter's columns, codecs, sorting key, partitions and skip indexes (its default
schema). Attributes are those of the spans that were recorded; contents stand where the GenAI
conventions put them and the official instrumentations write them: the whole input, output, system
instructions and tool definitions on every inference span, arguments and result on a tool's span,
the user's message and the reply on the agent's.
"""

from __future__ import annotations

from support.bigstore.grow import (
    BATCH,
    STRETCH,
    beginnings,
    new_id,
    new_session,
    new_time,
    new_trace,
)
from turnspan_clickhouse.store.client import Store

TABLE = """
CREATE TABLE IF NOT EXISTS otel_traces
(
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Duration UInt64 CODEC(T64, ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    Events Nested
    (
        Timestamp DateTime64(9),
        Name LowCardinality(String),
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    Links Nested
    (
        TraceId String,
        SpanId String,
        TraceState String,
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_res_attr_key mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_res_attr_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_span_attr_value mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_duration Duration TYPE minmax GRANULARITY 1,
    INDEX idx_lower_span_name lower(SpanName) TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 8
)
ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
PRIMARY KEY (ServiceName, SpanName, toDateTime(Timestamp))
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp), Timestamp)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
"""

_COLUMNS = (
    "Timestamp, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ServiceName,"
    " ResourceAttributes, ScopeName, ScopeVersion, SpanAttributes, Duration, StatusCode,"
    " StatusMessage"
)

_FROM_RECORDS = f"""
INSERT INTO otel_traces ({_COLUMNS})
SELECT
    s.start_time, s.trace_id, s.span_id, s.parent_span_id, s.trace_state, s.name,
    initcap(lower(s.kind)), s.service, s.resource, s.scope_name, s.scope_version,
    CAST(arrayConcat(
        CAST(s.attributes, 'Array(Tuple(String, String))'),
        arrayFilter(pair -> pair.2 != '', [
            ('gen_ai.system_instructions', if(c.system_prompt = '', '', concat(
                '[{{"type":"text","content":', toJSONString(c.system_prompt), '}}]'))),
            ('gen_ai.tool.definitions', c.tool_definitions),
            ('gen_ai.input.messages', c.chat_history),
            ('gen_ai.output.messages', c.output),
            ('gen_ai.tool.call.arguments', t.arguments),
            ('gen_ai.tool.call.result', t.result)]),
        if(u.span_id = '', [], [
            ('gen_ai.input.messages', concat(
                '[{{"role":"user","parts":[{{"type":"text","content":',
                toJSONString(u.user_message), '}}]}}]')),
            ('gen_ai.output.messages', concat(
                '[{{"role":"assistant","parts":[{{"type":"text","content":',
                toJSONString(u.response_text), '}}],"finish_reason":"stop"}}]'))])
    ), 'Map(LowCardinality(String), String)'),
    toUInt64(round(s.duration * 1e9)), initcap(lower(s.status_code)), s.status_message
FROM span AS s
LEFT ANY JOIN llm_call_full AS c ON s.span_id = c.span_id
LEFT ANY JOIN tool_call AS t ON s.span_id = t.span_id
LEFT ANY JOIN (SELECT * FROM turn_summary FINAL) AS u ON s.span_id = u.span_id
SETTINGS max_block_size = 4096
"""


def fill(store: Store) -> None:
    """``otel_traces`` beside the records of the store's database, out of them."""
    store.command(TABLE)
    store.command("TRUNCATE TABLE otel_traces")
    store.command(_FROM_RECORDS)


def grow(store: Store, real: str, copies: int, wanted: range) -> None:
    """Some of ``copies`` copies of ``real``'s ``otel_traces``, as ``grow.grow`` makes them."""
    store.command(TABLE)
    chosen = list(wanted)
    for at in range(0, len(chosen), BATCH // 2):
        store.command(_copies(real, copies, chosen[at : at + BATCH // 2]))


def _copies(real: str, copies: int, chosen: list[int]) -> str:
    session = "SpanAttributes['gen_ai.conversation.id']"
    changed = {
        "Timestamp": new_time("Timestamp", session),
        "TraceId": new_trace("TraceId"),
        "SpanId": new_id("SpanId"),
        "ParentSpanId": new_id("ParentSpanId"),
        "Duration": f"Duration * {STRETCH}",
        "SpanAttributes": "mapApply((key, value) -> (key, multiIf("
        f"key = 'gen_ai.conversation.id', {new_session('value')},"
        f" key = 'turnspan.turn.id', {new_id('value')},"
        " key = 'gen_ai.response.id',"
        f" concat('chatcmpl-', {new_id('value')}), value)), SpanAttributes)",
    }
    values = ", ".join(changed.get(name, name) for name in _COLUMNS.split(", "))
    return (
        f"INSERT INTO otel_traces ({_COLUMNS})"
        f" WITH toUInt64({copies}) AS copies SELECT {values}"
        f" FROM {real}.otel_traces AS r"
        f" INNER JOIN {beginnings(real)} AS b ON b.begun = {session}"
        f" CROSS JOIN (SELECT arrayJoin({chosen}) AS copy) AS c"
        " SETTINGS max_block_size = 2048, max_threads = 2"
    )
