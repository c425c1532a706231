SELECT
 span_id,
 parent_span_id,
 name,
 kind,
 start_time,
 duration,
 status_code,
 status_message
FROM span
WHERE (project = {project:String}) AND (trace_id = {trace:String})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 start_time AS time,
 turn_id AS turn,
 agent_name AS agent,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
 rounds,
 tool_call_count AS tools,
 t.duration AS duration_seconds,
 t.cost_usd AS cost_usd,
 session_id AS session
FROM turn_summary AS t
WHERE (project = {project:String}) AND (trace_id = {trace:String})
ORDER BY
 time ASC,
 turn ASC;
