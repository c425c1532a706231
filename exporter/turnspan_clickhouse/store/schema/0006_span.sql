-- Every span of every trace, without content, so that a trace can be rebuilt from here alone.
CREATE TABLE IF NOT EXISTS {table:span} {on_cluster}
(
    {piece:located}
    trace_state String CODEC(ZSTD(3)),
    name LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    start_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    duration Float64 CODEC(ZSTD(3)),
    status_code LowCardinality(String) CODEC(ZSTD(1)),
    status_message String CODEC(ZSTD(6)),
    scope_name LowCardinality(String) CODEC(ZSTD(1)),
    scope_version LowCardinality(String) CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(6)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(6)),
    events String CODEC(ZSTD(6)),
    links String CODEC(ZSTD(6)),
    writer LowCardinality(String) CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    INDEX by_time start_time TYPE minmax GRANULARITY 1,
    INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, trace_id)}
ENGINE = {replacing:written_at}
PARTITION BY toMonday(start_time)
ORDER BY (project, trace_id, start_time, span_id)
{piece:weekly}
