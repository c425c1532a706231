SELECT lower(hex(hash)) AS id FROM message
WHERE project = {project:String} AND scope = {scope:String}
    AND positionCaseInsensitiveUTF8(parts, {written:String}) > 0
