-- What was judged of the turn itself decides: a correction, else an answer that was used or is a
-- good example.
SELECT t.project AS project, t.session_id AS session_id, t.turn_id AS turn_id,
    if(t.user_message != '', t.user_message, a.input) AS input,
    multiIf(j.correction != '', j.correction, j.good, t.response_text, '') AS expected
FROM
(
    SELECT project, session_id, turn_id, attempt_id, start_time, user_message, response_text
    FROM turn_summary AS t
    WHERE {where} AND t.status != 'running'
    ORDER BY start_time DESC, turn_id
    LIMIT {limit:UInt32}
) AS t
LEFT JOIN
(
    SELECT project, attempt_id, input FROM attempt WHERE {of_project}
) AS a ON a.project = t.project AND a.attempt_id = t.attempt_id
LEFT JOIN
(
    SELECT project, subject_id, anyIf(comment, kind = 'evaluation:correction') AS correction,
        maxIf(training_flag, kind = 'training_flag') AS flag,
        (countIf(kind = 'outcome' AND outcome = 'used') > 0 OR flag = 1)
            AND ifNull(flag, 0) != -1 AS good
    FROM annotation_current
    WHERE subject_kind = 'turn' AND {of_project}
    GROUP BY project, subject_id
) AS j ON j.project = t.project AND j.subject_id = t.turn_id
WHERE input != ''
ORDER BY t.start_time DESC, t.turn_id
