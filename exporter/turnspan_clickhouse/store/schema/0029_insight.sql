-- Patterns that somebody saw in evolutions.
CREATE TABLE IF NOT EXISTS {table:insight} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    experiment_id String CODEC(ZSTD(3)),
    lineage_id String CODEC(ZSTD(3)),
    insight_id String CODEC(ZSTD(3)),
    pattern String CODEC(ZSTD(6)),
    change LowCardinality(String) CODEC(ZSTD(1)),
    evolution_ids Array(String) CODEC(ZSTD(3)),
    confidence Nullable(Float64) CODEC(ZSTD(3)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, insight_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, insight_id)
SETTINGS non_replicated_deduplication_window = 10000
