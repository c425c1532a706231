SELECT project, subject_id, kind, annotation_id, created_at FROM annotation
WHERE subject_kind = 'turn'
    AND (kind IN ('outcome', 'training_flag', 'score', 'comment') OR kind LIKE 'evaluation:%')
    AND author = {author:String} AND source = {source:String}
    AND {of_project}
    AND {not_withdrawn}
ORDER BY toUnixTimestamp64Nano(created_at) DESC, annotation_id LIMIT {limit:UInt32}
