SELECT
 project,
 call.1,
 call.2,
 call.3
FROM
(
 SELECT
  project,
  turn_id,
  min(began) AS first,
  argMin((session_id, span, state), began) AS call
 FROM
 (
  SELECT
   project,
   session_id,
   turn_id,
   span_id AS span,
   min(start_time) AS began,
   argMax(status, written_at) AS state
  FROM llm_call_running
  WHERE (turn_id != '') AND (({project:String} = '') OR (project = {project:String})) AND ((project, session_id, span_id) IN (
   SELECT
    project,
    session_id,
    span_id
   FROM llm_call_running
   WHERE status != 'final'
  )) AND ((project, turn_id) NOT IN (
   SELECT
    project,
    turn_id
   FROM turn_summary
   WHERE turn_id IN (
    SELECT turn_id
    FROM llm_call_running
    WHERE status != 'final'
   )
  ))
  GROUP BY
   project,
   session_id,
   turn_id,
   span_id
  HAVING state != 'final'
 )
 GROUP BY
  project,
  turn_id
)
ORDER BY first DESC
LIMIT 1000;

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
