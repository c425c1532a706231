SELECT {columns},
    mapContains(attributes, 'turnspan.truncated.result') AS cut,
    attributes['turnspan.tool.result_class'] AS result_class
FROM tool_call
WHERE {where}
ORDER BY start_time, span_id
