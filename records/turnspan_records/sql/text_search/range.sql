-- Of all projects it is told from the parts alone, without reading a row.
SELECT toUnixTimestamp64Nano(min(first)), toUnixTimestamp64Nano(max(last)), sum(rows)
FROM
(
    SELECT min(start_time) AS first, max(start_time) AS last, count() AS rows
    FROM turn_summary WHERE {of_project}
    UNION ALL
    SELECT min(start_time), max(start_time), count() FROM tool_call WHERE {of_project}
    UNION ALL
    SELECT min(start_time), max(start_time), count() FROM llm_call WHERE {of_project}
)
WHERE rows > 0
