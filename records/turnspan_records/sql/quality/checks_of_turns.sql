{_checks} WHERE project IN {projects:Array(String)} AND turn_id IN {turns:Array(String)}
