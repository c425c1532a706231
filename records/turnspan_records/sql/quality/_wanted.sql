FROM artifact
WHERE kind != 'correction'
    AND {of_project}
    AND (empty({kinds:Array(String)}) OR kind IN {kinds:Array(String)})
    AND created_at >= {since:DateTime64(9, 'UTC')}
    AND ({again:Bool} OR (project, artifact_id) NOT IN ({_settled}))
