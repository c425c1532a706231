SELECT
    intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bin,
    count() AS turns,
    countIf({how_ended} NOT IN ('completed', 'running')) AS problems
FROM {turns} AS t
WHERE {where}
GROUP BY bin
