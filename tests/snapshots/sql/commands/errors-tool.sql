SELECT
 did,
 count() AS times,
 argMax((project, session_id, turn_id, span_id), began) AS newest
FROM
(
 SELECT
  f.project AS project,
  f.session_id AS session_id,
  f.turn_id AS turn_id,
  f.span_id AS span_id,
  any(f.start_time) AS began,
  countIf((n.start_time > f.start_time) AND ((n.round > f.round) OR ((n.round = 0) AND (f.round = 0)))) AS more,
  countIf((n.start_time > f.start_time) AND ((n.round > f.round) OR ((n.round = 0) AND (f.round = 0))) AND (n.name = {tool:String})) AS again,
  argMinIf((n.arguments, n.failed), (n.start_time, n.span_id), (n.start_time > f.start_time) AND ((n.round > f.round) OR ((n.round = 0) AND (f.round = 0))) AND (n.name = {tool:String})) AS following,
  multiIf(more = 0, 'no more tools', again = 0, 'other tools', (following.1) = any(f.arguments), 'same call again', following.2, 'changed, failed again', 'changed, worked') AS did
 FROM
 (
  SELECT
   project,
   session_id,
   turn_id,
   span_id,
   start_time,
   round,
   arguments
  FROM tool_call
  WHERE (name = {tool:String}) AND failed AND (turn_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 ) AS f
 LEFT JOIN
 (
  SELECT
   project,
   turn_id,
   toString(name) AS name,
   start_time,
   round,
   arguments,
   failed,
   span_id
  FROM tool_call
  WHERE (project, turn_id) IN (
   SELECT
    project,
    turn_id
   FROM tool_call
   WHERE (name = {tool:String}) AND failed AND (turn_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  )
 ) AS n ON (n.project = f.project) AND (n.turn_id = f.turn_id)
 GROUP BY
  project,
  session_id,
  turn_id,
  span_id
)
GROUP BY did
ORDER BY
 times DESC,
 did ASC;

SELECT
 failed,
 project,
 session_id,
 turn_id,
 span_id,
 toUnixTimestamp64Nano(start_time) AS nanoseconds,
 leftUTF8(arguments, 1000) AS arguments,
 leftUTF8(if(error_message != '', error_message, result), 400) AS said
FROM tool_call
WHERE (name = {tool:String}) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
ORDER BY
 start_time DESC,
 span_id ASC
LIMIT {each:UInt32} BY failed;
