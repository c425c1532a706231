-- One row per consortium run: several models answer a prompt and an arbiter decides. Its last row
-- replaces the one that it began with. `prompt` and `final_text` are hashes in definition.
-- `outer_id` and `outer_member`: the run, and the member of it, that this run is.
CREATE TABLE IF NOT EXISTS {table:consortium} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    consortium_id String CODEC(ZSTD(3)),
    name LowCardinality(String) CODEC(ZSTD(1)),
    strategy LowCardinality(String) CODEC(ZSTD(1)),
    prompt FixedString(16) CODEC(ZSTD(1)),
    final_text FixedString(16) CODEC(ZSTD(1)),
    status LowCardinality(String) CODEC(ZSTD(1)),
    iterations UInt32 CODEC(T64, ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    outer_id String CODEC(ZSTD(3)),
    outer_member String CODEC(ZSTD(3)),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    span_id String CODEC(ZSTD(3)),
    {piece:went}
    INDEX by_time started_at TYPE minmax GRANULARITY 1,
    INDEX by_run consortium_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, consortium_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, consortium_id)
SETTINGS non_replicated_deduplication_window = 10000
