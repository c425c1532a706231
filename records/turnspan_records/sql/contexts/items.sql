SELECT assembly_id, item_id AS id, position, section, source, tokens, tokens_estimated, score, kept,
    reason, hop, requires_depth, lower(hex(content_hash)) AS content_hash
FROM context_item
WHERE project = {project:String} AND session_id IN {sessions:Array(String)}
    AND assembly_id IN {ids:Array(String)}
ORDER BY assembly_id, position, id
