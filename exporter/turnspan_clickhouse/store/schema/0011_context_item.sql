-- What was considered for a context, kept or dropped: one row each. Sorted as its assembly is, so that
-- the items of a session lie together; start_time is the assembly's.
CREATE TABLE IF NOT EXISTS {table:context_item} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    assembly_id String CODEC(ZSTD(3)),
    start_time DateTime64(9, 'UTC') CODEC(T64),
    item_id String CODEC(ZSTD(3)),
    position UInt32 CODEC(T64, ZSTD(1)),
    section LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(3)),
    tokens Nullable(UInt64) CODEC(T64, ZSTD(1)),
    tokens_estimated Bool CODEC(ZSTD(1)),
    score Nullable(Float64) CODEC(ZSTD(3)),
    kept Bool CODEC(ZSTD(1)),
    reason LowCardinality(String) CODEC(ZSTD(1)),
    hop Nullable(UInt32) CODEC(T64, ZSTD(1)),
    requires_depth Nullable(UInt32) CODEC(T64, ZSTD(1)),
    content_hash FixedString(16) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_time start_time TYPE minmax GRANULARITY 1,
    INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_assembly assembly_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, if(session_id = '', trace_id, session_id))}
ENGINE = {replacing:written_at}
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, assembly_id, item_id)
{piece:weekly}
