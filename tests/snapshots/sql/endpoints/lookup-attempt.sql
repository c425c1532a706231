SELECT experiment_id
FROM lineage
WHERE (project = {project:String}) AND (lineage_id IN (
 SELECT lineage_id
 FROM attempt
 WHERE (project = {project:String}) AND (attempt_id = {id:String})
))
LIMIT 1;
