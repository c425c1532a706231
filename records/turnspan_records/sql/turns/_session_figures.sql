-- Of sessions what their root turns say; the engine leaves out what nobody asks for.
SELECT
    project, session_id AS session, max(start_time) AS time, count() AS turns,
    sum(t.cost_usd) AS cost_usd, sum(llm_call_count) AS calls, sum(tool_call_count) AS tools,
    sum(tool_error_count) AS failed_tools, argMax({how_ended}, (start_time, turn_id)) AS ended,
    countIf({how_ended} NOT IN ('completed', 'running')) AS problems,
    leftUTF8(argMin(user_message, (start_time, turn_id)), 240) AS said
FROM {turns} AS t
WHERE session_id != '' AND {where} AND {_recent}
GROUP BY project, session_id
