-- Model calls that have not ended: what each was asked, and its text so far. The row of a call that has
-- ended has `final` in the place of that: llm_call has it.
CREATE TABLE IF NOT EXISTS {table:llm_call_running} {on_cluster}
(
    {piece:located}
    start_time DateTime64(9, 'UTC') CODEC(T64),
    round UInt32 CODEC(T64, ZSTD(1)),
    status LowCardinality(String) CODEC(ZSTD(1)),
    provider LowCardinality(String) CODEC(ZSTD(1)),
    operation LowCardinality(String) CODEC(ZSTD(1)),
    request_model LowCardinality(String) CODEC(ZSTD(1)),
    request_parameters String CODEC(ZSTD(6)),
    stream Bool CODEC(ZSTD(1)),
    input_messages Array(FixedString(16)) CODEC(ZSTD(6)),
    system_prompt FixedString(16) CODEC(ZSTD(1)),
    tool_definitions FixedString(16) CODEC(ZSTD(1)),
    response_text String CODEC(ZSTD(6)),
    response_thoughts String CODEC(ZSTD(6)),
    tool_calls String CODEC(ZSTD(6)),
    agent_name LowCardinality(String) CODEC(ZSTD(1)),
    scope_name LowCardinality(String) CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(6)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, if(session_id = '', trace_id, session_id))}
ENGINE = {replacing:written_at}
ORDER BY (project, session_id, start_time, span_id)
SETTINGS non_replicated_deduplication_window = 10000
