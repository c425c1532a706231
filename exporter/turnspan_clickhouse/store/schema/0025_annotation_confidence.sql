-- How sure who judged was (0 to 1), and the ranking that a preference is a pair of.
ALTER TABLE {table:annotation} {on_cluster}
    ADD COLUMN IF NOT EXISTS confidence Nullable(Float64) CODEC(ZSTD(3)),
    ADD COLUMN IF NOT EXISTS ranking_id String CODEC(ZSTD(3))
