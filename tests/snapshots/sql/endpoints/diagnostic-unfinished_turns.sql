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
 unfinished AS
 (
  SELECT *
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND (status IN ('running', 'interrupted')) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 status,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 if(status = 'running', greatest(dateDiff('millisecond', start_time, now64(3)), 0) / 1000, nullIf(duration, 0)) AS age_seconds,
 writer,
 leftUTF8(user_message, 240) AS user_message
FROM unfinished
WHERE start_time IN (
 SELECT start_time
 FROM unfinished
 ORDER BY
  status = 'running' DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 status = 'running' DESC,
 time DESC,
 turn ASC
LIMIT {limit:UInt32};
