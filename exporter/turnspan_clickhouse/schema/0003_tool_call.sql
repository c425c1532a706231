-- One row per executed tool.
CREATE TABLE IF NOT EXISTS {table:tool_call} {on_cluster}
(
    project LowCardinality(String),
    service LowCardinality(String),
    environment LowCardinality(String),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    span_id String CODEC(ZSTD(3)),
    parent_span_id String CODEC(ZSTD(3)),
    start_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    duration Float64,
    round UInt32,
    name LowCardinality(String),
    type LowCardinality(String),
    call_id String CODEC(ZSTD(3)),
    arguments String CODEC(ZSTD(3)),
    result String CODEC(ZSTD(3)),
    failed Bool,
    error_type LowCardinality(String),
    error_message String CODEC(ZSTD(3)),
    agent_name LowCardinality(String),
    scope_name LowCardinality(String),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    writer LowCardinality(String),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    INDEX by_time start_time TYPE minmax GRANULARITY 1,
    INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, if(session_id = '', trace_id, session_id))}
ENGINE = {replacing:written_at}
PARTITION BY toYYYYMM(start_time)
ORDER BY (project, session_id, start_time, span_id)
SETTINGS non_replicated_deduplication_window = 10000
