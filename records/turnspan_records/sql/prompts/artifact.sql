SELECT turn_id, session_id, trace_id FROM artifact
WHERE project = {project:String} AND artifact_id = {id:String} AND turn_id != '' LIMIT 1
