SELECT rollout_id, attempt_id, cycle AS repetition, status, output, error_type, error_message,
    started_at, duration, JSONExtractString(parameters, 'case') AS case_id,
    JSONExtractString(parameters, 'trace') AS trace_id
FROM attempt
WHERE project = {project:String} AND lineage_id = {lineage:String}
    AND status IN ('succeeded', 'failed')
    AND (empty({ids:Array(String)}) OR attempt_id IN {ids:Array(String)})
ORDER BY started_at, attempt_id
