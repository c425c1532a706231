project = {project:String} AND scope IN {scopes:Array(String)}
