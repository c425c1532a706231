SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),
    coalesce(k.indkey[0] = a.attnum, false)::text
FROM pg_attribute AS a
LEFT JOIN pg_index AS k ON k.indrelid = a.attrelid AND k.indisprimary AND k.indnkeyatts = 1
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
