SELECT * FROM attempt WHERE project = {project:String} AND attempt_id = {id:String}
