{_mark}, {_verdict}, sipHash128(project, trace_id, span_id)
FROM (SELECT project, trace_id, span_id, session_id, start_time FROM {calls} WHERE turn_id = '') AS c
GLOBAL LEFT JOIN ({_judged_calls} {_of_calls} GROUP BY project, subject_id) AS o
    ON o.of_project = c.project AND o.subject_id = c.span_id
GLOBAL LEFT JOIN ({_judged_calls} subject_kind = 'session' GROUP BY project, subject_id) AS s
    ON s.of_project = c.project AND s.subject_id = c.session_id
WHERE {_verdict} != ''
