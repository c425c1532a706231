SELECT lineage_id FROM {table}
WHERE project = {project:String} AND {column} = {id:String} LIMIT 1
