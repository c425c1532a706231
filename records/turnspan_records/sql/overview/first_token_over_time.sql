SELECT
    intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
    quantileExact(0.95)(time_to_first_chunk) AS wait
FROM llm_call
WHERE {in_window}
GROUP BY bucket
ORDER BY bucket
