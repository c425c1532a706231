SELECT subject_id, annotation_id FROM annotation WHERE project = {project:String}
    AND subject_kind = {kind:String} AND kind = 'preference' AND ranking_id = {id:String}
