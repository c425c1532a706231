SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 toUnixTimestamp64Nano(min(start_time)),
 toUnixTimestamp64Nano(max(start_time)),
 count()
FROM turn_summary;

WITH
 page AS
 (
  SELECT start_time
  FROM turn_summary AS t
  WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (({recent:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {recent:DateTime64(9, 'UTC')}))
  ORDER BY
   start_time DESC NULLS LAST,
   turn_id DESC,
   t.project DESC
  LIMIT {limit:UInt32}
 )
SELECT
 start_time AS time,
 (toUnixTimestamp64Nano(start_time), turn_id, t.project) AS place,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 agent_version AS version,
 project,
 service,
 environment,
 trace_id,
 duration,
 input_tokens,
 output_tokens,
 cost_usd,
 error_type,
 user_id,
 status,
 stop_reason,
 rounds,
 models,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS ended,
 leftUTF8(t.stop_detail, 240) AS detail,
 llm_call_count AS calls,
 tool_call_count AS tools,
 tool_error_count AS failed_tools,
 leftUTF8(user_message, 240) AS said,
 leftUTF8(response_text, 240) AS reply
FROM turn_summary AS t
WHERE (start_time IN (
 SELECT start_time
 FROM page
)) AND (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (({recent:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {recent:DateTime64(9, 'UTC')}))
ORDER BY
 start_time DESC NULLS LAST,
 turn_id DESC,
 t.project DESC
LIMIT {limit:UInt32};
