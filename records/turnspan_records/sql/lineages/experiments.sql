SELECT
    l.project AS project,
    l.experiment_id AS experiment,
    max(greatest(l.opened_at, r.last)) AS last_time,
    count() AS lineages,
    sum(r.rollouts) AS rollouts,
    max(r.cycle) AS cycle,
    any(leftUTF8(e.need, 240)) AS need_text
FROM (SELECT * FROM lineage) AS l
LEFT JOIN
(
    SELECT project, lineage_id, count() AS rollouts, max(r.cycle) AS cycle, max(started_at) AS last
    FROM rollout AS r GROUP BY project, lineage_id
) AS r ON r.project = l.project AND r.lineage_id = l.lineage_id
LEFT JOIN (SELECT * FROM experiment) AS e
    ON e.project = l.project AND e.experiment_id = l.experiment_id
WHERE {project:String} = '' OR project = {project:String}
GROUP BY project, experiment
ORDER BY last_time DESC, experiment
LIMIT {limit:UInt32}
