session_id != '' AND {of_project}
    AND (empty({sessions:Array(String)}) OR session_id IN {sessions:Array(String)})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
