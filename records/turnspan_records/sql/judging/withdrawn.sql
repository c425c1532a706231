SELECT kind, subject_id, annotation_id AS id, withdrawn_at, withdrawn_by, reason
FROM annotation_withdrawn
WHERE project = {project:String} AND subject_kind IN {kinds:Array(String)}
    AND subject_id IN {ids:Array(String)}
