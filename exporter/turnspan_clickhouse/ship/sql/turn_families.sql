SELECT project, turn_id, parent_turn_id
FROM turn_summary
WHERE (project, session_id, trace_id) IN (
    SELECT project, session_id, trace_id FROM turn_summary
    WHERE status = 'running' AND writer IN {writers:Array(String)})
