{_checks} WHERE {of_project}
    AND ({source:String} = '' OR source = {source:String})
ORDER BY checked_at DESC, project, source, artifact_id LIMIT {limit:UInt32}
