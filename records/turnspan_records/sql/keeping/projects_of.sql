SELECT DISTINCT toString(project) FROM {table} WHERE {id} = {id:String}
