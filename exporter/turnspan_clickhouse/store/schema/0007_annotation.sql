-- Append-only judgments; the current value of each is the view annotation_current.
CREATE TABLE IF NOT EXISTS {table:annotation} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    subject_kind LowCardinality(String) CODEC(ZSTD(1)),
    subject_id String CODEC(ZSTD(3)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    annotation_id String CODEC(ZSTD(3)),
    outcome LowCardinality(String) CODEC(ZSTD(1)),
    training_flag Nullable(Int8) CODEC(ZSTD(1)),
    score Nullable(Float64) CODEC(ZSTD(3)),
    comment String CODEC(ZSTD(6)),
    chosen_id String CODEC(ZSTD(3)),
    rejected_id String CODEC(ZSTD(3)),
    directive String CODEC(ZSTD(6)),
    author LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(6)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_time created_at TYPE minmax GRANULARITY 1
)
{shard_by:cityHash64(project, subject_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, subject_kind, kind, subject_id, annotation_id)
SETTINGS non_replicated_deduplication_window = 10000
