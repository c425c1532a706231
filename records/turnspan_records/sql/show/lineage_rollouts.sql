SELECT started_at AS time, cycle, task, status, length(attempts) AS tries,
    duration AS duration_seconds, rollout_id AS rollout
FROM rollout_current WHERE project = {project:String} AND lineage_id = {id:String}
ORDER BY cycle, time, rollout
