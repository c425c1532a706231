-- The turns, with those of which nothing is stored yet but a call that has not ended: what the user
-- said is the last that it sent of theirs.
(
    SELECT *, unanswered FROM turn_summary
    UNION ALL
    SELECT none.* REPLACE (c.project AS project, c.service AS service,
        c.environment AS environment, c.session_id AS session_id, c.turn_id AS turn_id,
        c.trace_id AS trace_id, c.span_id AS span_id, c.parent_span_id AS parent_span_id,
        c.start_time AS start_time, c.status AS status, c.agent_name AS agent_name,
        c.writer AS writer, c.written_at AS written_at, asked.said AS user_message), false
    FROM (SELECT * FROM llm_call_running WHERE {_open}) AS c
    LEFT JOIN (SELECT * FROM turn_summary WHERE false) AS none ON none.turn_id = c.turn_id
    LEFT JOIN
    (
        SELECT sent.span_id AS span, argMax(
            arrayStringConcat(JSONExtract(parts, 'Array(Tuple(content String))').1, ' '), at) AS said
        FROM ({_sent}) AS sent
        INNER JOIN
        (
            SELECT project, scope, hash, parts FROM message
            WHERE role = 'user'
                AND (project, scope, hash) IN (SELECT project, scope, hash FROM ({_sent}))
        ) AS m ON m.project = sent.project AND m.scope = sent.scope AND m.hash = sent.hash
        GROUP BY span
    ) AS asked ON asked.span = c.span_id
)
