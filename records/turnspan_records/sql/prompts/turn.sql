SELECT turn_id, session_id, trace_id FROM turn_summary
WHERE project = {project:String} AND turn_id = {id:String} LIMIT 1
