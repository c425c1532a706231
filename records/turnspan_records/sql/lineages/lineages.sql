SELECT lineage_id, label, strategy, directive, once, locked, evolve
FROM lineage_current
WHERE project = {project:String} AND experiment_id = {experiment:String}
ORDER BY label, lineage_id
