SELECT * FROM consortium_run
WHERE project = {project:String} AND consortium_id = {run:String}
