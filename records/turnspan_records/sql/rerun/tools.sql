SELECT {columns},
    mapContains(attributes, 'turnspan.truncated.result') AS cut,
    attributes['turnspan.tool.result_type'] AS result_type
FROM tool_call
WHERE {where}
ORDER BY start_time, span_id
