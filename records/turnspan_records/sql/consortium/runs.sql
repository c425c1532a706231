-- The newest ids first, from narrow columns: the view then looks up these runs only.
SELECT
    started_at AS time, project, name, consortium_id AS run, r.status AS status, iterations,
    length(members) AS members, arbiter, winner, confidence, agreement, calls,
    r.cost_usd AS cost_usd, r.duration AS duration_seconds, error_type AS error
FROM consortium_run AS r
WHERE consortium_id IN
(
    SELECT consortium_id
    FROM
    (
        SELECT project, consortium_id, started_at AS at FROM consortium
        UNION ALL
        SELECT project, consortium_id, start_time FROM llm_call WHERE consortium_id != ''
    )
    WHERE {of_project}
    GROUP BY project, consortium_id
    HAVING min(at) >= {since:DateTime64(9, 'UTC')} AND min(at) < {until:DateTime64(9, 'UTC')}
    ORDER BY min(at) DESC, consortium_id
    LIMIT {limit:UInt32}
    SETTINGS final = 0
)
AND {of_project}
ORDER BY time DESC, run
LIMIT {limit:UInt32}
