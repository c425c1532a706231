-- The newest turns to judge, with their whole texts, a person's correction and their tools.
WITH chosen AS
    (
        SELECT project, turn_id FROM turn_summary AS t
        WHERE {where} AND t.status != 'running' AND t.response_text != ''
        ORDER BY start_time DESC, turn_id
        LIMIT {limit:UInt32}
    )
SELECT
    t.project AS project, t.turn_id AS id, t.user_message AS input, t.response_text AS answer,
    c.comment AS expected, arrayStringConcat(u.tools, '\n') AS tools
FROM turn_summary AS t
LEFT JOIN
(
    SELECT project, subject_id, any(comment) AS comment FROM annotation_current
    WHERE subject_kind = 'turn' AND kind = 'evaluation:correction'
        AND (project, subject_id) IN (SELECT project, turn_id FROM chosen)
    GROUP BY project, subject_id
) AS c ON c.project = t.project AND c.subject_id = t.turn_id
LEFT JOIN
(
    SELECT project, turn_id, arrayMap(one -> one.3, arraySort(groupArray((start_time, span_id,
        concat(toString(name), ' ', arguments, ' -> ', if(failed, 'failed: ', ''), result))))) AS tools
    FROM tool_call WHERE (project, turn_id) IN (SELECT project, turn_id FROM chosen)
    GROUP BY project, turn_id
) AS u ON u.project = t.project AND u.turn_id = t.turn_id
WHERE (t.project, t.turn_id) IN (SELECT project, turn_id FROM chosen)
ORDER BY t.start_time DESC, t.turn_id
