-- The configurations of an agent that a lineage has had; each body once in definition.
CREATE TABLE IF NOT EXISTS {table:agent_version} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    lineage_id String CODEC(ZSTD(3)),
    version_id String CODEC(ZSTD(3)),
    name String CODEC(ZSTD(3)),
    content FixedString(16) CODEC(ZSTD(1)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, lineage_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, lineage_id, version_id)
SETTINGS non_replicated_deduplication_window = 10000
