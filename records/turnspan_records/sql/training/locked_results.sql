WITH
    of AS
    (
        SELECT project, experiment_id, lineage_id, locked, locked_time FROM lineage_current
        WHERE {_only}
    ),
    at_least_one AS (SELECT project, experiment_id FROM of WHERE locked),
    made AS
    (
        SELECT project, lineage_id, cycle, task, version_id, started_at, final_attempt_id, status
        FROM rollout_current WHERE {_only}
    ),
    held AS
    (
        SELECT m.project AS project, m.lineage_id AS lineage_id,
            argMax(m.version_id, m.started_at) AS version_id
        FROM made AS m INNER JOIN of AS o ON o.project = m.project AND o.lineage_id = m.lineage_id
        WHERE o.locked AND m.started_at <= o.locked_time
        GROUP BY project, lineage_id
    ),
    by AS
    (
        SELECT project, lineage_id, argMax(e.author, created_at) AS author,
            argMax(kind, created_at) AS word
        FROM lineage_event AS e
        WHERE kind IN ('locked', 'unlocked')
            AND (empty({authors:Array(String)}) OR e.author IN {authors:Array(String)})
        GROUP BY project, lineage_id
    )
SELECT
    m.project AS project, m.final_attempt_id AS attempt_id, o.experiment_id AS experiment_id,
    m.cycle AS of_cycle, m.task AS of_task, toUInt8(o.locked) AS is_locked, by.author AS said_by
FROM made AS m
INNER JOIN of AS o ON o.project = m.project AND o.lineage_id = m.lineage_id
LEFT JOIN held AS h ON h.project = m.project AND h.lineage_id = m.lineage_id
LEFT JOIN by ON by.project = m.project AND by.lineage_id = m.lineage_id
WHERE m.status = 'succeeded' AND m.final_attempt_id != ''
    AND (o.project, o.experiment_id) IN (SELECT project, experiment_id FROM at_least_one)
    AND (NOT o.locked OR h.lineage_id = '' OR h.version_id = m.version_id)
    AND (NOT o.locked OR empty({authors:Array(String)}) OR by.word = 'locked')
ORDER BY project, attempt_id
