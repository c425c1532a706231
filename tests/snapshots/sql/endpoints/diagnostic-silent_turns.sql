WITH
 silent AS
 (
  SELECT
   *,
   unanswered
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND (status = 'final') AND ((t.stop_reason IN ('silent_rounds', 'empty_no_tools')) OR (t.silent_rounds >= 30) OR ((t.stop_reason = 'completed') AND unanswered)) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 t.stop_reason AS stop_reason,
 t.silent_rounds AS silent_rounds,
 rounds,
 tool_call_count AS tools,
 CAST((NOT match(response_text, '\\S')), 'Bool') AS empty_reply,
 leftUTF8(user_message, 240) AS user_message
FROM silent AS t
WHERE start_time >= (
 SELECT min(start_time)
 FROM
 (
  SELECT start_time
  FROM silent
  ORDER BY start_time DESC
  LIMIT {limit:UInt32}
 )
)
ORDER BY
 time DESC,
 turn ASC
LIMIT {limit:UInt32};
