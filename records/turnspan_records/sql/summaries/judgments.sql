SELECT subject_kind, subject_id, kind, outcome, training_flag, score
FROM annotation_current
WHERE project = {project:String} AND subject_kind IN ('turn', 'session')
    AND subject_id IN {ids:Array(String)} AND kind IN ('outcome', 'training_flag', 'score')
