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

SELECT
 if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status) AS stop_reason,
 count() AS turns,
 if(stop_reason = 'running', NULL, turns / greatest(sum(countIf(status != 'running')) OVER (), 1)) AS share,
 round(avg(rounds), 1) AS avg_rounds,
 round(avg(tool_call_count), 1) AS avg_tools,
 (quantilesExact(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
 p[2] AS p95_seconds,
 sum(t.cost_usd) AS cost_usd
FROM turn_summary AS t
WHERE (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY stop_reason
ORDER BY
 stop_reason = 'running' ASC,
 turns DESC,
 stop_reason ASC
LIMIT {limit:UInt32};
