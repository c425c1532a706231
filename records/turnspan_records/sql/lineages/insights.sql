SELECT insight_id, lineage_id, pattern, change, evolution_ids, confidence, author, created_at
FROM insight
WHERE project = {project:String} AND (experiment_id = {experiment:String}
    OR (lineage_id != '' AND lineage_id IN {lineages:Array(String)}))
ORDER BY created_at, insight_id
