SELECT a.attempt_id AS attempt_id, r.task AS case_id, a.cycle AS repetition, a.status AS status,
    a.output AS output, a.error_type AS error_type, a.error_message AS error_message,
    a.started_at AS started_at, a.duration AS duration,
    JSONExtractString(a.parameters, 'trace') AS trace_id
FROM
(
    SELECT * FROM attempt
    WHERE project = {project:String} AND lineage_id = {lineage:String}
        AND status IN ('succeeded', 'failed')
        AND (empty({ids:Array(String)}) OR attempt_id IN {ids:Array(String)})
) AS a
LEFT JOIN
(
    SELECT rollout_id, task FROM rollout
    WHERE project = {project:String} AND lineage_id = {lineage:String}
) AS r ON r.rollout_id = a.rollout_id
ORDER BY started_at, attempt_id
