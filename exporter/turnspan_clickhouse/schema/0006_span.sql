-- Every span of every trace, without content, so that a trace can be rebuilt from here alone.
CREATE TABLE IF NOT EXISTS {table:span} {on_cluster}
(
    project LowCardinality(String),
    service LowCardinality(String),
    environment LowCardinality(String),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    span_id String CODEC(ZSTD(3)),
    parent_span_id String CODEC(ZSTD(3)),
    trace_state String CODEC(ZSTD(3)),
    name LowCardinality(String),
    kind LowCardinality(String),
    start_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    duration Float64,
    status_code LowCardinality(String),
    status_message String CODEC(ZSTD(3)),
    scope_name LowCardinality(String),
    scope_version LowCardinality(String),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    events String CODEC(ZSTD(3)),
    links String CODEC(ZSTD(3)),
    writer LowCardinality(String),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    INDEX by_time start_time TYPE minmax GRANULARITY 1,
    INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, trace_id)}
ENGINE = {replacing:written_at}
PARTITION BY toYYYYMM(start_time)
ORDER BY (project, trace_id, start_time, span_id)
SETTINGS non_replicated_deduplication_window = 10000
