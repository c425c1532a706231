-- What was forgotten: nothing that began until then comes back, from a late segment or an archive.
-- Ids are there as hashes only (the first 16 bytes of SHA-256 over kind, project and id, with zero bytes
-- between), so that they can be recognised and not read.
CREATE TABLE IF NOT EXISTS {table:tombstone} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    key FixedString(16) CODEC(NONE),
    until DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    forgetting_id String CODEC(ZSTD(3)),
    asked Bool CODEC(ZSTD(1)),
    reason String CODEC(ZSTD(6)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, key)}
ENGINE = {replacing:written_at}
ORDER BY (project, kind, key, forgetting_id)
SETTINGS non_replicated_deduplication_window = 10000
