SELECT project, artifact_id, lower(hex(content)) AS hash FROM artifact
WHERE project IN {projects:Array(String)} AND artifact_id IN {ids:Array(String)}
