SELECT session_id, trace_id FROM turn_summary
WHERE project = {project:String} AND turn_id = {turn:String} LIMIT 1
