SELECT turn_id, session_id, trace_id FROM llm_call
WHERE project = {project:String} AND span_id = {id:String} LIMIT 1
