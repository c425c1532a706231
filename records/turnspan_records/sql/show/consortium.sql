SELECT * EXCEPT (consortium_id) FROM consortium_run
WHERE project = {project:String} AND consortium_id = {id:String}
