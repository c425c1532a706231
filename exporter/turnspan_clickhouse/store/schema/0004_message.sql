-- Every distinct message of a session (or of a trace without one), stored once.
CREATE TABLE IF NOT EXISTS {table:message} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    scope String CODEC(ZSTD(3)),
    hash FixedString(16) CODEC(ZSTD(1)),
    role LowCardinality(String) CODEC(ZSTD(1)),
    name String CODEC(ZSTD(3)),
    parts String CODEC(ZSTD(6)),
    source String CODEC(ZSTD(6)),
    dialect LowCardinality(String) CODEC(ZSTD(1)),
    first_seen DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_scope scope TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, scope)}
ENGINE = {replacing:written_at}
ORDER BY (project, scope, hash)
SETTINGS non_replicated_deduplication_window = 10000
