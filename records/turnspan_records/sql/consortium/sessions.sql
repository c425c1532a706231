SELECT DISTINCT session_id FROM llm_call
WHERE project = {project:String} AND consortium_id = {run:String} AND session_id != ''
ORDER BY session_id
