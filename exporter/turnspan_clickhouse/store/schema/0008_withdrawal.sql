-- Judgments that somebody took back: one row per withdrawal; annotation_withdrawn says of which.
CREATE TABLE IF NOT EXISTS {table:withdrawal} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    subject_kind LowCardinality(String) CODEC(ZSTD(1)),
    subject_id String CODEC(ZSTD(3)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    withdrawal_id String CODEC(ZSTD(3)),
    annotation_id String CODEC(ZSTD(3)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    comment String CODEC(ZSTD(6)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, subject_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, subject_kind, kind, subject_id, withdrawal_id)
SETTINGS non_replicated_deduplication_window = 10000
