WITH
 page AS
 (
  SELECT
   project,
   session_id,
   max(start_time) AS newest
  FROM turn_summary AS t
  WHERE (session_id != '') AND (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
  GROUP BY
   project,
   session_id
  ORDER BY
   newest DESC NULLS LAST,
   session_id DESC,
   project DESC
  LIMIT {limit:UInt32}
 )
SELECT
 *,
 (toUnixTimestamp64Nano(time), session, project) AS place
FROM
(
 SELECT
  project,
  session_id AS session,
  maxIf(start_time, parent_turn_id = '') AS time,
  countIf(parent_turn_id = '') AS turns,
  sum(llm_call_count) AS calls,
  sum(tool_call_count) AS tools,
  sum(tool_error_count) AS failed_tools,
  sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
  argMaxIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status), (start_time, turn_id), parent_turn_id = '') AS ended,
  countIf((if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) NOT IN ('completed', 'running')) AND (parent_turn_id = '')) AS problems,
  leftUTF8(argMinIf(user_message, (start_time, turn_id), parent_turn_id = ''), 240) AS said
 FROM
 (
  SELECT
   *,
   ((t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})) AS wanted,
   max(wanted) OVER (PARTITION BY project, session_id, trace_id) AS with_wanted
  FROM turn_summary AS t
  WHERE (project, session_id) IN (
   SELECT
    project,
    session_id
   FROM page
  )
 ) AS t
 WHERE wanted OR ((parent_turn_id != '') AND with_wanted)
 GROUP BY
  project,
  session_id
)
WHERE true
ORDER BY
 time DESC NULLS LAST,
 session DESC,
 project DESC
LIMIT {limit:UInt32};
