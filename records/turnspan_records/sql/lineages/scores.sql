SELECT subject_id, kind, score FROM result_score WHERE {_of}
