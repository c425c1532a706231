-- One row per executed tool.
CREATE TABLE IF NOT EXISTS {table:tool_call} {on_cluster}
(
    {piece:located}
    start_time DateTime64(9, 'UTC') CODEC(T64),
    duration Float64 CODEC(LZ4),
    round UInt32 CODEC(T64, ZSTD(1)),
    name LowCardinality(String) CODEC(ZSTD(1)),
    type LowCardinality(String) CODEC(ZSTD(1)),
    call_id String CODEC(ZSTD(3)),
    arguments String CODEC(ZSTD(6)),
    result String CODEC(ZSTD(6)),
    failed Bool CODEC(ZSTD(1)),
    error_type LowCardinality(String) CODEC(ZSTD(1)),
    error_message String CODEC(ZSTD(6)),
    agent_name LowCardinality(String) CODEC(ZSTD(1)),
    scope_name LowCardinality(String) CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(6)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    turn_hash UInt32 MATERIALIZED cityHash64(turn_id) CODEC(LZ4),
    session_hash UInt32 MATERIALIZED cityHash64(session_id) CODEC(LZ4),
    INDEX by_time start_time TYPE minmax GRANULARITY 1,
    INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, if(session_id = '', trace_id, session_id))}
ENGINE = {replacing:written_at}
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, span_id)
{piece:weekly}
