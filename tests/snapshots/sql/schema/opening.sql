SELECT
 version,
 argMax(checksum, applied_at)
FROM turnspan.schema_migration
GROUP BY version;
