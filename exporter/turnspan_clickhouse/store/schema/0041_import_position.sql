-- How far each log that is imported has come; the newest row of a source holds. The position is the
-- source's own, opaque here. It is written after the rows before it are on disk.
CREATE TABLE IF NOT EXISTS {table:import_position} {on_cluster}
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    source String CODEC(ZSTD(3)),
    position String CODEC(ZSTD(3)),
    source_rows UInt64 CODEC(T64, ZSTD(1)),
    began_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
    written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
{shard_by:cityHash64(project, source)}
ENGINE = {replacing:written_at}
ORDER BY (project, kind, source)
SETTINGS non_replicated_deduplication_window = 10000
