SELECT {columns}
FROM turn_summary
WHERE {where}
ORDER BY start_time, span_id
