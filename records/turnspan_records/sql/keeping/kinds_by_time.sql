SELECT toUnixTimestamp64Nano(until) AS time, groupUniqArray(toString(kind))
FROM {table} WHERE {where} GROUP BY time ORDER BY time
