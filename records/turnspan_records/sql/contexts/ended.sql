SELECT turn_id FROM turn_summary
WHERE project = {project:String} AND turn_id IN {turns:Array(String)} AND status = 'interrupted'
