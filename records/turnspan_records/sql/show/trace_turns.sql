SELECT start_time AS time, turn_id AS turn, agent_name AS agent,
    {how_ended} AS stop_reason, rounds,
    tool_call_count AS tools, t.duration AS duration_seconds, t.cost_usd AS cost_usd,
    session_id AS session
FROM turn_summary AS t
WHERE project = {project:String} AND trace_id = {trace:String}
ORDER BY time, turn
