{_checks} WHERE source = {source:String} AND project IN {projects:Array(String)}
    AND artifact_id IN {ids:Array(String)}
