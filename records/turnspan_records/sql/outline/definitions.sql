SELECT lower(hex(hash)) AS id, kind, leftUTF8(body, {head}) AS head, length(body) AS size
FROM definition
WHERE project = {project:String} AND {of_hashes}
