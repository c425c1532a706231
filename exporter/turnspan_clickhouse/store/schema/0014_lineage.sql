-- The lineages of an experiment.
CREATE TABLE IF NOT EXISTS {table:lineage} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    experiment_id String CODEC(ZSTD(3)),
    lineage_id String CODEC(ZSTD(3)),
    label String CODEC(ZSTD(3)),
    opened_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, lineage_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, experiment_id, lineage_id)
SETTINGS non_replicated_deduplication_window = 10000
