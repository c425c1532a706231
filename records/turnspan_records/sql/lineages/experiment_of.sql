SELECT experiment_id FROM lineage
WHERE project = {project:String} AND lineage_id IN
    (SELECT lineage_id FROM {kind} WHERE project = {project:String} AND {kind}_id = {id:String})
LIMIT 1
