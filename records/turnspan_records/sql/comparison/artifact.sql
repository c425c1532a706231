SELECT '' AS asked, '' AS text, '' AS status, '' AS agent, version_id AS version, '' AS parameters,
    [] AS models, created_at AS start_time, NULL AS duration, lower(hex(content)) AS content,
    turn_id, attempt_id
FROM artifact WHERE project = {project:String} AND artifact_id = {id:String}
