-- What this reviewer said last of each turn, by kind.
SELECT project, subject_id, kind, argMax(outcome, at) AS outcome, argMax(training_flag, at) AS flag,
    argMax(score, at) AS score
FROM (SELECT *, (toUnixTimestamp64Nano(created_at), annotation_id) AS at FROM annotation)
WHERE subject_kind = 'turn' AND kind IN ('outcome', 'training_flag', 'score')
    AND author = {author:String} AND {not_withdrawn}
GROUP BY project, subject_id, kind
