SELECT
 start_time AS time,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
 rounds,
 tool_call_count AS tools,
 t.duration AS duration_seconds,
 t.cost_usd AS cost_usd,
 leftUTF8(user_message, 240) AS user_message
FROM turn_summary AS t
WHERE (parent_turn_id = '') AND (({session:String} = '') OR (session_id = {session:String})) AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
ORDER BY
 time DESC,
 turn ASC
LIMIT {limit:UInt32};
