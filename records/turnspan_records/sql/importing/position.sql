SELECT position, source_rows FROM import_position WHERE project = {project:String}
    AND kind = {kind:String} AND source = {source:String}
