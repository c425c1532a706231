-- In nanoseconds: the driver's times are coarser, and two judgments may be as close.
SELECT annotation_id AS id, subject_kind, subject_id, kind, outcome, training_flag, score, comment,
    directive, chosen_id, rejected_id, author, source, confidence, ranking_id, created_at,
    (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')),
        toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
FROM annotation
WHERE project = {project:String} AND subject_kind IN {kinds:Array(String)}
