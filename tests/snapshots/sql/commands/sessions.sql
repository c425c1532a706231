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
 (
  SELECT groupArray((toString(project), session))
  FROM
  (
   SELECT
    project,
    session
   FROM
   (
    SELECT
     project,
     session_id AS session,
     max(start_time) AS time,
     count() AS turns,
     sum(t.cost_usd) AS cost_usd,
     sum(llm_call_count) AS calls,
     sum(tool_call_count) AS tools,
     sum(tool_error_count) AS failed_tools,
     argMax(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status), (start_time, turn_id)) AS ended,
     countIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) NOT IN ('completed', 'running')) AS problems,
     leftUTF8(argMin(user_message, (start_time, turn_id)), 240) AS said
    FROM turn_summary AS t
    WHERE (session_id != '') AND (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (({recent:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {recent:DateTime64(9, 'UTC')}))
    GROUP BY
     project,
     session_id
   )
   WHERE true
   ORDER BY
    time DESC NULLS LAST,
    session DESC,
    project DESC
   LIMIT {limit:UInt32}
  )
 ) AS page
SELECT
 *,
 (toUnixTimestamp64Nano(time), session, project) AS place
FROM
(
 SELECT
  project,
  session_id AS session,
  maxIf(start_time, wanted) AS time,
  countIf(wanted) AS turns,
  sum(llm_call_count) AS calls,
  sum(tool_call_count) AS tools,
  sum(tool_error_count) AS failed_tools,
  sumIf(t.cost_usd, wanted) AS cost_usd,
  argMaxIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status), (start_time, turn_id), wanted) AS ended,
  countIf((if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) NOT IN ('completed', 'running')) AND wanted) AS problems,
  leftUTF8(argMinIf(user_message, (start_time, turn_id), wanted), 240) AS said
 FROM
 (
  SELECT
   *,
   ((t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')})) AS wanted,
   max(wanted) OVER (PARTITION BY project, session_id, trace_id) AS with_wanted
  FROM turn_summary AS t
  WHERE (project, session_id) IN (
   SELECT
    (arrayJoin(page)).1 AS project,
    (arrayJoin(page)).2 AS session
  )
 ) AS t
 WHERE wanted OR ((parent_turn_id != '') AND with_wanted)
 GROUP BY
  project,
  session_id
)
ORDER BY
 time DESC NULLS LAST,
 session DESC,
 project DESC
LIMIT {limit:UInt32};
