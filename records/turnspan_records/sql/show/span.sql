SELECT * FROM span
WHERE project = {project:String} AND session_id = {session:String} AND span_id = {id:String}
LIMIT 1
