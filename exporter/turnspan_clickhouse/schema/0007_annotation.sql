-- Append-only judgments; the current value of each is the view annotation_current.
CREATE TABLE IF NOT EXISTS {table:annotation} {on_cluster}
(
    project LowCardinality(String),
    subject_kind LowCardinality(String),
    subject_id String CODEC(ZSTD(3)),
    kind LowCardinality(String),
    annotation_id String CODEC(ZSTD(3)),
    outcome LowCardinality(String),
    training_flag Nullable(Int8),
    score Nullable(Float64),
    comment String CODEC(ZSTD(3)),
    chosen_id String CODEC(ZSTD(3)),
    rejected_id String CODEC(ZSTD(3)),
    directive String CODEC(ZSTD(3)),
    author LowCardinality(String),
    source LowCardinality(String),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    INDEX by_time created_at TYPE minmax GRANULARITY 1
)
{shard_by:cityHash64(project, subject_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, subject_kind, subject_id, kind, annotation_id)
SETTINGS non_replicated_deduplication_window = 10000
