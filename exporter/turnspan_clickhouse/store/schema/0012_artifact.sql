-- Something that an agent wrote, by what it wrote; the text once in definition.
CREATE TABLE IF NOT EXISTS {table:artifact} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    target String CODEC(ZSTD(3)),
    artifact_id String CODEC(ZSTD(3)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    version String CODEC(ZSTD(3)),
    content FixedString(16) CODEC(ZSTD(1)),
    content_bytes UInt64 CODEC(T64, ZSTD(1)),
    session_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    call_id String CODEC(ZSTD(3)),
    lineage_id String CODEC(ZSTD(3)),
    rollout_id String CODEC(ZSTD(3)),
    attempt_id String CODEC(ZSTD(3)),
    version_id String CODEC(ZSTD(3)),
    cycle Nullable(UInt32) CODEC(T64, ZSTD(1)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_time created_at TYPE minmax GRANULARITY 1,
    INDEX by_artifact artifact_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_attempt attempt_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, target)}
ENGINE = {replacing:written_at}
ORDER BY (project, target, artifact_id)
SETTINGS non_replicated_deduplication_window = 10000
