SELECT * FROM lineage_current WHERE project = {project:String} AND lineage_id = {id:String}
