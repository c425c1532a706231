SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

WITH
 early AS
 (
  SELECT *
  FROM turn_summary AS t
  WHERE (rounds < 3) AND (parent_turn_id = '') AND (status != 'running') AND (NOT ((status = 'final') AND (substringIndex(t.stop_reason, ':', 1) = 'completed'))) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
 if(t.stop_detail != '', t.stop_detail, arrayStringConcat(arraySlice(splitByChar(':', t.stop_reason), 2), ':')) AS detail,
 rounds,
 tool_call_count AS tools,
 leftUTF8(user_message, 240) AS user_message
FROM early AS t
WHERE start_time >= (
 SELECT min(start_time)
 FROM
 (
  SELECT start_time
  FROM early
  ORDER BY start_time DESC
  LIMIT {limit:UInt32}
 )
)
ORDER BY
 time DESC,
 turn ASC
LIMIT {limit:UInt32};
