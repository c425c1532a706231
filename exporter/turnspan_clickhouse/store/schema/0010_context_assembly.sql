-- One row per context that was put together for a prompt. What was considered is in context_item, the
-- texts in definition.
CREATE TABLE IF NOT EXISTS {table:context_assembly} {on_cluster}
(
    {piece:located}
    assembly_id String CODEC(ZSTD(3)),
    start_time DateTime64(9, 'UTC') CODEC(T64),
    duration Float64 CODEC(LZ4),
    status LowCardinality(String) CODEC(ZSTD(1)),
    agent_name LowCardinality(String) CODEC(ZSTD(1)),
    task_type LowCardinality(String) CODEC(ZSTD(1)),
    entities Array(String) CODEC(ZSTD(6)),
    budget Nullable(UInt64) CODEC(T64, ZSTD(1)),
    used Nullable(UInt64) CODEC(T64, ZSTD(1)),
    used_estimated Bool CODEC(ZSTD(1)),
    considered UInt32 CODEC(T64, ZSTD(1)),
    kept UInt32 CODEC(T64, ZSTD(1)),
    dropped UInt32 CODEC(T64, ZSTD(1)),
    bypassed Bool CODEC(ZSTD(1)),
    bypass_reason LowCardinality(String) CODEC(ZSTD(1)),
    step_names Array(LowCardinality(String)) CODEC(ZSTD(1)),
    step_durations Array(Float64) CODEC(ZSTD(3)),
    step_errors Array(LowCardinality(String)) CODEC(ZSTD(1)),
    context_hash FixedString(16) CODEC(ZSTD(1)),
    error_type LowCardinality(String) CODEC(ZSTD(1)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_time start_time TYPE minmax GRANULARITY 1,
    INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_assembly assembly_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, if(session_id = '', trace_id, session_id))}
ENGINE = {replacing:written_at}
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, assembly_id)
{piece:weekly}
