SELECT
    intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
    arrayStringConcat(arraySort(t.models), ' + ') AS used,
    sum(t.cost_usd) AS cost_usd
FROM {turns} AS t
WHERE {where}
GROUP BY bucket, used
HAVING isNotNull(cost_usd)
ORDER BY cost_usd DESC, bucket, used
LIMIT 20000
