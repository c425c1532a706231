SELECT
    toUnixTimestamp(min(start_time)) AS first,
    toUnixTimestamp(max(start_time)) AS last,
    {_figures}
