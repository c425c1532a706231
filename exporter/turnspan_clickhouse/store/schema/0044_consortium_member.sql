-- One row per answer of a member in an iteration, also of one without a recorded call. `member_id` is
-- as arbiter_id in consortium_iteration. `answer` is what the application said that it answered; else
-- it is the response_text of its last call.
CREATE TABLE IF NOT EXISTS {table:consortium_member} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    consortium_id String CODEC(ZSTD(3)),
    iteration UInt32 CODEC(T64, ZSTD(1)),
    member_id String CODEC(ZSTD(3)),
    model LowCardinality(String) CODEC(ZSTD(1)),
    instance String CODEC(ZSTD(3)),
    answer String CODEC(ZSTD(6)),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    trace_id String CODEC(ZSTD(3)),
    {piece:went}
    INDEX by_run consortium_id TYPE bloom_filter(0.01) GRANULARITY 1
)
{shard_by:cityHash64(project, consortium_id)}
ENGINE = {replacing:written_at}
ORDER BY (project, consortium_id, member_id)
SETTINGS non_replicated_deduplication_window = 10000
