, tried AS (SELECT a.attempt_id FROM attempt AS a INNER JOIN
    (SELECT project, lineage_id FROM lineage
    WHERE has({experiments:Array(String)}, experiment_id)) AS l
    ON l.project = a.project AND l.lineage_id = a.lineage_id)
