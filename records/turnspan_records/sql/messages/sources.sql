SELECT lower(hex(hash)) AS id, body, source FROM definition
WHERE project = {project:String} AND {of_hashes}
