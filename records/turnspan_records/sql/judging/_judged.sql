-- What a person has judged, by project and turn: anybody, or with each the author.
SELECT project, subject_id FROM annotation
WHERE subject_kind = 'turn' AND kind IN ('outcome', 'training_flag', 'score')
    AND outcome != 'pending' AND ifNull(training_flag, 1) != 0
    AND NOT startsWith(author, 'passive:') AND NOT startsWith(source, 'machine')
    AND (NOT {each:Bool} OR author = {author:String})
    AND {not_withdrawn}
