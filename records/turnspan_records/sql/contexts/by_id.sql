{_columns}
WHERE project = {project:String} AND assembly_id IN {ids:Array(String)}
ORDER BY start_time, id
