-- The cases of versions of datasets. A version is the hash of its cases and never changes.
CREATE TABLE IF NOT EXISTS {table:dataset_case} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    dataset LowCardinality(String) CODEC(ZSTD(1)),
    version String CODEC(ZSTD(3)),
    case_id String CODEC(ZSTD(3)),
    position UInt32 CODEC(T64, ZSTD(1)),
    input String CODEC(ZSTD(6)),
    input_json Bool CODEC(ZSTD(1)),
    expected String CODEC(ZSTD(6)),
    expected_json Bool CODEC(ZSTD(1)),
    tags Array(String) CODEC(ZSTD(3)),
    session_id String CODEC(ZSTD(3)),
    turn_id String CODEC(ZSTD(3)),
    created_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, dataset)}
ENGINE = {replacing:written_at}
ORDER BY (project, dataset, version, case_id)
SETTINGS non_replicated_deduplication_window = 10000
