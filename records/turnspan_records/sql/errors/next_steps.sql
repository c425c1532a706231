-- What the model did after a tool failed. What it asked for at once with the failed call, it asked
-- for before it knew.
SELECT did, count() AS times, argMax((project, session_id, turn_id, span_id), began) AS newest
FROM
(
    SELECT
        f.project AS project, f.session_id AS session_id, f.turn_id AS turn_id,
        f.span_id AS span_id, any(f.start_time) AS began,
        countIf({_after}) AS more,
        countIf({_after} AND n.name = {tool:String}) AS again,
        argMinIf((n.arguments, n.failed), (n.start_time, n.span_id),
            {_after} AND n.name = {tool:String}) AS following,
        multiIf(
            more = 0, 'no more tools',
            again = 0, 'other tools',
            following.1 = any(f.arguments), 'same call again',
            following.2, 'changed, failed again',
            'changed, worked') AS did
    FROM
    (
        SELECT project, session_id, turn_id, span_id, start_time, round, arguments
        FROM tool_call WHERE {_failed_in_turn}
    ) AS f
    LEFT JOIN
    (
        SELECT project, turn_id, toString(name) AS name, start_time, round, arguments, failed,
            span_id
        FROM tool_call
        WHERE (project, turn_id) IN (SELECT project, turn_id FROM tool_call WHERE {_failed_in_turn})
    ) AS n ON n.project = f.project AND n.turn_id = f.turn_id
    GROUP BY project, session_id, turn_id, span_id
)
GROUP BY did
ORDER BY times DESC, did
