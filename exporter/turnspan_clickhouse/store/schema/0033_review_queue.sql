-- Queues of turns to be judged that were saved under a name; the newest of a name counts.
CREATE TABLE IF NOT EXISTS {table:review_queue} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    name String CODEC(ZSTD(3)),
    definition String CODEC(ZSTD(6)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, name)}
ENGINE = {replacing:written_at}
ORDER BY (project, name)
SETTINGS non_replicated_deduplication_window = 10000
