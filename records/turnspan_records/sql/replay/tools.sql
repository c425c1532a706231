SELECT span_id, name, call_id, start_time, duration, round, arguments, result, failed,
    error_type, error_message, turn_id, trace_id, parent_span_id
FROM tool_call
WHERE {where}
ORDER BY start_time, span_id
