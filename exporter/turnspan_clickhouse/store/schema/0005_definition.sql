-- Every distinct system prompt, tool catalogue, assembled context and agent configuration, stored once.
CREATE TABLE IF NOT EXISTS {table:definition} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    hash FixedString(16) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    body String CODEC(ZSTD(6)),
    source String CODEC(ZSTD(6)),
    first_seen DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, hash)}
ENGINE = {replacing:written_at}
ORDER BY (project, hash)
SETTINGS non_replicated_deduplication_window = 10000
