SELECT r.task AS case_id, argMin(a.input, a.started_at), min(a.started_at) AS began
FROM
(
    SELECT rollout_id, input, started_at FROM attempt
    WHERE project = {project:String} AND lineage_id IN {lineages:Array(String)}
        AND status IN ('succeeded', 'failed')
) AS a
INNER JOIN
(
    SELECT rollout_id, task FROM rollout
    WHERE project = {project:String} AND lineage_id IN {lineages:Array(String)} AND task != ''
) AS r ON r.rollout_id = a.rollout_id
GROUP BY case_id
ORDER BY began, case_id
