SELECT started_at AS time, iteration, model, confidence,
    arrayStringConcat(ranking, ', ') AS ranking, i.duration AS duration_seconds,
    error_type AS error, arbiter_id AS span
FROM consortium_iteration AS i
WHERE project = {project:String} AND consortium_id = {id:String}
ORDER BY iteration, time, span
