SELECT * FROM tool_call
WHERE project = {project:String} AND session_id = {session:String} AND span_id = {id:String}
LIMIT 1
