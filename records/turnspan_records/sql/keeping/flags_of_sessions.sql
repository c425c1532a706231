-- A turn has the flag of its session.
{_mark}, said, {_turn}
FROM {turns} AS t GLOBAL INNER JOIN
    (SELECT project AS of_project, subject_id, toString(assumeNotNull(training_flag)) AS said
    FROM {judged} WHERE subject_kind = 'session' AND {_flags}) AS s
ON s.of_project = t.project AND s.subject_id = t.session_id
WHERE session_id != '' AND {_unflagged}
