project = {project:String} AND lineage_id IN {lineages:Array(String)}
