SELECT turn_id, session_id, trace_id FROM turn_summary
WHERE project = {project:String} AND attempt_id = {id:String} AND parent_turn_id = ''
ORDER BY start_time, turn_id LIMIT 2
