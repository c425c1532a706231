SELECT kind, outcome, training_flag, score, author FROM judgment
WHERE subject_id = ? AND subject_kind = ? AND project = ? AND kind != 'preference'
ORDER BY kind
