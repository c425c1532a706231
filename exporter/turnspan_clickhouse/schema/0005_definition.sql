-- Every distinct system prompt, tool catalogue, assembled context and agent configuration, stored once.
CREATE TABLE IF NOT EXISTS {table:definition} {on_cluster}
(
    project LowCardinality(String),
    hash FixedString(16),
    kind LowCardinality(String),
    body String CODEC(ZSTD(3)),
    source String CODEC(ZSTD(3)),
    first_seen DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
{shard_by:cityHash64(project, hash)}
ENGINE = {replacing:written_at}
ORDER BY (project, hash)
SETTINGS non_replicated_deduplication_window = 10000
