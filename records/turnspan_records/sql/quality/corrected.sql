{_checks} WHERE correction_id != '' AND decision = 'modified'
    AND {of_project}
    AND ({artifact:String} = '' OR artifact_id = {artifact:String})
ORDER BY decided_at, project, artifact_id LIMIT {limit:UInt32}
