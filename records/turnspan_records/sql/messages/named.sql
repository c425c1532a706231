SELECT lower(hex(hash)) AS id, role, name, parts, source, dialect FROM message
WHERE project = {project:String} AND scope = {scope:String} AND {of_hashes}
