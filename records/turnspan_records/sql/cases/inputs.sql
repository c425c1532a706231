SELECT JSONExtractString(parameters, 'case') AS case_id, argMin(input, started_at)
FROM attempt
WHERE project = {project:String} AND lineage_id IN {lineages:Array(String)}
    AND case_id != '' AND status IN ('succeeded', 'failed')
GROUP BY case_id
ORDER BY min(started_at), case_id
