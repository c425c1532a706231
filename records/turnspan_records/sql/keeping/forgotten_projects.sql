SELECT DISTINCT toString(project) FROM {tombstone} WHERE asked AND kind = {kind:String}
