-- What a pass of `turnspan retain` or `turnspan forget` has decided on, by the key of each row, so
-- that it acts on that and on nothing that came since. Empty between passes. On a cluster every node
-- has all of it: a mutation is run by each replica for itself.
CREATE TABLE IF NOT EXISTS {database}.keeping_row {on_cluster}
(
    pass String CODEC(ZSTD(1)),
    record LowCardinality(String) CODEC(ZSTD(1)),
    week Date CODEC(ZSTD(1)),
    reason LowCardinality(String) CODEC(ZSTD(1)),
    key FixedString(16) CODEC(LZ4),
    decided_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(Delta, ZSTD(1))
)
ENGINE = {ledger:decided_at}
PARTITION BY pass
ORDER BY (pass, record, week, key)
