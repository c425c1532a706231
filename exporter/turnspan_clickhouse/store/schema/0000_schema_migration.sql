-- The ledger of applied migrations; it lives in the store it describes.
CREATE TABLE IF NOT EXISTS {database}.schema_migration {on_cluster}
(
    version UInt32,
    name String,
    checksum String,
    client_version String,
    applied_at DateTime64(9, 'UTC') DEFAULT now64(9)
)
ENGINE = {ledger:applied_at}
ORDER BY version
