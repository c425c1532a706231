-- Of the parts of turns, which are tools and spans, that somebody flagged out.
SELECT project, span_id, turn_id FROM {table} WHERE turn_id != '' AND span_id IN
    (SELECT subject_id FROM annotation WHERE subject_kind IN ('tool', 'span')
        AND kind = 'training_flag' AND training_flag = -1)
