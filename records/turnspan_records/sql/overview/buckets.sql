SELECT
    intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
    {_figures}
GROUP BY bucket
ORDER BY bucket
