SELECT turn_id FROM turn_summary
WHERE project = {project:String} AND session_id = {session:String} AND parent_turn_id = ''
ORDER BY start_time DESC, turn_id LIMIT 1
