-- A turn is flagged 1 where a call in it is.
{_mark}, '1', {_turn}
FROM {calls} WHERE turn_id != '' AND (project, span_id) GLOBAL IN
    (SELECT project, subject_id FROM {judged} WHERE {_of_calls} AND {_flags} AND training_flag = 1)
    AND {_unflagged}
