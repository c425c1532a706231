SELECT
 project,
 session_id AS session,
 max(start_time) AS last_time,
 countIf(parent_turn_id = '') AS turns,
 sum(llm_call_count) AS calls,
 sum(tool_call_count) AS tools,
 sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
 argMaxIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status), start_time, parent_turn_id = '') AS last_stop,
 leftUTF8(argMinIf(user_message, start_time, parent_turn_id = ''), 240) AS first_message
FROM turn_summary AS t
WHERE (session_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
GROUP BY
 project,
 session
ORDER BY
 last_time DESC,
 session ASC
LIMIT {limit:UInt32};
