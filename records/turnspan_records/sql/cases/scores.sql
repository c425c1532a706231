SELECT subject_id, substring(kind, 12) AS scorer, score
FROM annotation_current
WHERE project = {project:String} AND subject_kind = 'attempt' AND startsWith(kind, 'evaluation:')
    AND subject_id IN {ids:Array(String)}
