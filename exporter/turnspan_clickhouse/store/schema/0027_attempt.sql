-- The attempts of rollouts; the final row of each replaces its running one.
CREATE TABLE IF NOT EXISTS {table:attempt} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    lineage_id String CODEC(ZSTD(3)),
    rollout_id String CODEC(ZSTD(3)),
    attempt_id String CODEC(ZSTD(3)),
    cycle UInt32 CODEC(T64, ZSTD(1)),
    version_id String CODEC(ZSTD(3)),
    status LowCardinality(String) CODEC(ZSTD(1)),
    model LowCardinality(String) CODEC(ZSTD(1)),
    parameters String CODEC(ZSTD(6)),
    input String CODEC(ZSTD(6)),
    output String CODEC(ZSTD(6)),
    error_type LowCardinality(String) CODEC(ZSTD(1)),
    error_message String CODEC(ZSTD(6)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(6)),
    started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    duration Float64 CODEC(LZ4),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_attempt attempt_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, lineage_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, lineage_id, rollout_id, attempt_id)
SETTINGS non_replicated_deduplication_window = 10000
