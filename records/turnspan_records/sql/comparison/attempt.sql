SELECT input AS asked, output AS text, a.status AS status, '' AS agent, version_id AS version,
    parameters, [model] AS models, started_at AS start_time, a.duration AS duration
FROM attempt AS a WHERE project = {project:String} AND attempt_id = {id:String}
