SELECT started_at AS time, iteration, model, instance, m.duration AS duration_seconds,
    error_type AS error, member_id AS span
FROM consortium_member AS m
WHERE project = {project:String} AND consortium_id = {id:String}
ORDER BY iteration, time, span
