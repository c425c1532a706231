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
 project,
 count() AS turns
FROM turn_summary AS t
GROUP BY project
ORDER BY
 turns DESC,
 project ASC
LIMIT {limit:UInt32};
