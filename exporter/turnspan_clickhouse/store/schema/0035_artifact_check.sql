-- What was found when it was looked what became of an artifact; the newest look at it counts.
-- Judgments are in annotation: this says how far the looking is, and why something is not judged.
CREATE TABLE IF NOT EXISTS {table:artifact_check} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    artifact_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    target String CODEC(ZSTD(3)),
    decision LowCardinality(String) CODEC(ZSTD(1)),
    reason String CODEC(ZSTD(6)),
    revision String CODEC(ZSTD(3)),
    found_by LowCardinality(String) CODEC(ZSTD(1)),
    revised_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    later_revision String CODEC(ZSTD(3)),
    correction_id String CODEC(ZSTD(3)),
    similarity Nullable(Float64) CODEC(ZSTD(3)),
    decided_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    checked_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, artifact_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, source, artifact_id)
SETTINGS non_replicated_deduplication_window = 10000
