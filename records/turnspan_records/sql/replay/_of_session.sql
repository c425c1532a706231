project = {project:String} AND session_id = {session:String}
