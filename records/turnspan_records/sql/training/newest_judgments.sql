-- What each author said last, in the order in which annotation_current prefers it.
SELECT project, if(subject_kind = 'llm_call', 'call', subject_kind), subject_id, kind, outcome,
    training_flag, score, author, chosen_id, rejected_id, annotation_id
FROM annotation
WHERE {_only}
    AND cityHash64(if(kind = 'preference', {_pair}[1], subject_id)) % {pages:UInt64}
        = {page:UInt64}
    AND (kind IN ('outcome', 'training_flag', 'score', 'preference')
        OR startsWith(kind, 'evaluation:'))
    AND {not_withdrawn}
ORDER BY
    startsWith(author, 'passive:') OR startsWith(source, 'machine'),
    created_at DESC, written_at DESC, annotation_id DESC
LIMIT 1 BY
    project, subject_kind, kind, author, if(kind = 'preference', {_pair}, [subject_id])
