SELECT withdrawal_id FROM withdrawal
WHERE project = {project:String} AND subject_kind IN {kinds:Array(String)}
    AND subject_id IN {ids:Array(String)}
