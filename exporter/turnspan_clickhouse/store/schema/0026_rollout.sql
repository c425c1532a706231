-- One task of a cycle; the newest row of each holds.
CREATE TABLE IF NOT EXISTS {table:rollout} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    lineage_id String CODEC(ZSTD(3)),
    rollout_id String CODEC(ZSTD(3)),
    cycle UInt32 CODEC(T64, ZSTD(1)),
    task String CODEC(ZSTD(6)),
    version_id String CODEC(ZSTD(3)),
    status LowCardinality(String) CODEC(ZSTD(1)),
    final_attempt_id String CODEC(ZSTD(3)),
    error_type LowCardinality(String) CODEC(ZSTD(1)),
    started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    duration Float64 CODEC(LZ4),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, lineage_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, lineage_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 10000
