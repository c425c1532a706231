SELECT c.column_name, c.data_type, c.column_key = 'PRI' AND (
    SELECT count(*) FROM information_schema.columns AS k
    WHERE k.table_schema = c.table_schema AND k.table_name = c.table_name
        AND k.column_key = 'PRI') = 1
FROM information_schema.columns AS c
WHERE c.table_schema = %s AND c.table_name = %s
ORDER BY c.ordinal_position
