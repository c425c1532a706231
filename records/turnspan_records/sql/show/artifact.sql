SELECT * EXCEPT (content), lower(hex(content)) AS content_hash FROM artifact WHERE project = {project:String} AND artifact_id = {id:String}
