SELECT lineage_id, rollout_id, cycle, task, version_id, status, final_attempt_id, started_at,
    duration
FROM rollout_current WHERE {_of} ORDER BY cycle, task, started_at, rollout_id
