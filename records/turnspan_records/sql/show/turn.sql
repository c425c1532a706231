SELECT * FROM turn_summary
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {id:String}
LIMIT 1
