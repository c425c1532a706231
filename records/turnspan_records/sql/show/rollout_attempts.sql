SELECT started_at AS time, a.status AS status, model, a.duration AS duration_seconds,
    error_type AS error, attempt_id AS attempt
FROM attempt AS a WHERE project = {project:String} AND rollout_id = {id:String}
ORDER BY time, attempt
