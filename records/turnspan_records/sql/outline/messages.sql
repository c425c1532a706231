SELECT lower(hex(hash)) AS id, role, name, dialect, head
FROM message
WHERE project = {project:String} AND scope = {scope:String}
    AND (empty({hashes:Array(String)}) OR {of_hashes})
