SELECT l.project AS project, l.lineage_id AS lineage_id, any(l.label) AS label
FROM (SELECT project, lineage_id, label FROM lineage
    WHERE {of_project} AND experiment_id = {experiment:String}) AS l
INNER JOIN (SELECT project, lineage_id, started_at FROM attempt
    WHERE {of_project} AND lineage_id IN
        (SELECT lineage_id FROM lineage WHERE experiment_id = {experiment:String})) AS a
    ON a.project = l.project AND a.lineage_id = l.lineage_id
GROUP BY project, lineage_id
ORDER BY min(a.started_at), label
