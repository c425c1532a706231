SELECT lineage_id, label, directive, once, locked, evolve
FROM lineage_current WHERE project = {project:String} AND lineage_id IN {ids:Array(String)}
