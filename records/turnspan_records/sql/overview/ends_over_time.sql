SELECT
    intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
    {how_ended} AS ended,
    count() AS turns
FROM {turns} AS t
WHERE {where}
GROUP BY bucket, ended
ORDER BY bucket, ended
LIMIT 20000
