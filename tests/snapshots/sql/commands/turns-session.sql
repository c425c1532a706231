WITH
 page AS
 (
  SELECT start_time
  FROM turn_summary AS t
  WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (session_id = {session:String})
  ORDER BY
   start_time DESC,
   turn_id DESC
  LIMIT {limit:UInt32}
 )
SELECT
 start_time AS time,
 toUnixTimestamp64Nano(start_time) AS nanoseconds,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 agent_version AS version,
 t.status AS status,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS ended,
 t.stop_reason AS stop_reason,
 leftUTF8(t.stop_detail, 240) AS detail,
 rounds,
 tool_call_count AS tools,
 tool_error_count AS failed_tools,
 t.duration AS duration,
 t.cost_usd AS cost_usd,
 t.input_tokens AS input_tokens,
 t.output_tokens AS output_tokens,
 models,
 t.error_type AS error_type,
 leftUTF8(user_message, 240) AS said,
 leftUTF8(response_text, 240) AS reply
FROM turn_summary AS t
WHERE (start_time IN (
 SELECT start_time
 FROM page
)) AND (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (session_id = {session:String})
ORDER BY
 start_time DESC,
 turn_id DESC
LIMIT {limit:UInt32};
