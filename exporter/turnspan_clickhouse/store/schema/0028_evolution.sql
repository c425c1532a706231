-- The changes from one version to the next; what they came to is the view evolution_outcome.
CREATE TABLE IF NOT EXISTS {table:evolution} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    lineage_id String CODEC(ZSTD(3)),
    evolution_id String CODEC(ZSTD(3)),
    from_version String CODEC(ZSTD(3)),
    to_version String CODEC(ZSTD(3)),
    trigger String CODEC(ZSTD(6)),
    hypothesis String CODEC(ZSTD(6)),
    plan String CODEC(ZSTD(6)),
    changes Map(LowCardinality(String), String) CODEC(ZSTD(6)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, lineage_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, lineage_id, evolution_id)
SETTINGS non_replicated_deduplication_window = 10000
