-- What was said of a lineage: strategy, directives, locking and unlocking; append-only.
CREATE TABLE IF NOT EXISTS {table:lineage_event} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    lineage_id String CODEC(ZSTD(3)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    event_id String CODEC(ZSTD(3)),
    text String CODEC(ZSTD(6)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, lineage_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, lineage_id, kind, event_id)
SETTINGS non_replicated_deduplication_window = 10000
