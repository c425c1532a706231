SELECT project, session_id, trace_id, turn_id
FROM turn_summary
WHERE status = 'running' AND writer IN {writers:Array(String)}
