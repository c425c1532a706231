-- What an arbiter made of the answers of an iteration. `arbiter_id` is the id of its span, or of the
-- model call where there is no other span; its calls in llm_call name it.
CREATE TABLE IF NOT EXISTS {table:consortium_iteration} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    consortium_id String CODEC(ZSTD(3)),
    iteration UInt32 CODEC(T64, ZSTD(1)),
    arbiter_id String CODEC(ZSTD(3)),
    model LowCardinality(String) CODEC(ZSTD(1)),
    synthesis String CODEC(ZSTD(6)),
    ranking Array(String) CODEC(ZSTD(3)),
    confidence Nullable(Float64) CODEC(ZSTD(3)),
    reasoning String CODEC(ZSTD(6)),
    refinement_areas Array(String) CODEC(ZSTD(6)),
    needs_iteration Nullable(UInt8) CODEC(ZSTD(1)),
    raw String CODEC(ZSTD(6)),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    {piece:went}
    INDEX by_run consortium_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, consortium_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, consortium_id, arbiter_id)
SETTINGS non_replicated_deduplication_window = 10000
