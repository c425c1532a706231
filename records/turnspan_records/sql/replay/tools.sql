SELECT {columns}
FROM tool_call
WHERE {where}
ORDER BY start_time, span_id
