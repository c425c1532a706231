-- What a number of lineages of an agent are tried for.
CREATE TABLE IF NOT EXISTS {table:experiment} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    experiment_id String CODEC(ZSTD(3)),
    need String CODEC(ZSTD(6)),
    constraints String CODEC(ZSTD(6)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, experiment_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, experiment_id)
SETTINGS non_replicated_deduplication_window = 10000
