SELECT lower(hex(hash)) AS id, length(body) FROM definition
WHERE project = {project:String} AND {of_hashes}
