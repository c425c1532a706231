SELECT kind, score FROM annotation_current
WHERE project = {project:String} AND subject_kind = {kind:String} AND subject_id = {id:String}
    AND isNotNull(score) AND (kind = 'score' OR startsWith(kind, 'evaluation:'))
