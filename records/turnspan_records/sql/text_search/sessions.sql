-- The sessions in which a text was found, or the traces without one: their last turn.
SELECT
    project, scope, argMax(session_id, start_time) AS session, argMax(trace_id, start_time) AS trace,
    toUnixTimestamp64Nano(max(start_time)) AS time, argMax(agent_name, start_time) AS agent,
    argMax({how_ended}, start_time) AS ended, count() AS turns,
    leftUTF8(argMin(user_message, start_time), 240) AS said
FROM
(
    SELECT *, if(t.session_id = '', t.trace_id, t.session_id) AS scope
    FROM turn_summary AS t
    WHERE (session_id IN {scopes:Array(String)} OR trace_id IN {scopes:Array(String)})
        AND parent_turn_id = '' AND {of_project}
) AS t
WHERE scope IN {scopes:Array(String)}
GROUP BY project, scope
