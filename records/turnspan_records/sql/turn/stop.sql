SELECT session_id, trace_id, status, stop_reason, stop_detail, rounds, max_rounds, silent_rounds,
    max_identical_tool_streak, no_progress_rounds, tool_call_count, tool_error_count, error_type,
    error_message
FROM turn_summary WHERE project = {project:String} AND turn_id = {turn:String}
ORDER BY start_time LIMIT 1
