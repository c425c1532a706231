SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

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
