SELECT lower(hex(hash)) AS id, body FROM definition
WHERE project = {project:String} AND {of_hashes}
