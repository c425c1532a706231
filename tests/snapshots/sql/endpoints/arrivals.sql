SELECT
 (
  SELECT count()
  FROM
  (
   SELECT 1
   FROM turn_summary
   WHERE (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (turn_id IN (
    SELECT turn_id
    FROM turn_summary
    WHERE (status = 'running') AND (start_time >= {since:DateTime64(9, 'UTC')})
   ))
   GROUP BY
    project,
    turn_id
   HAVING argMax(status, written_at) = 'running'
  )
 ) AS running,
 (
  SELECT maxOrNull(written_at)
  FROM turn_summary
  WHERE (({project:String} = '') OR (project = {project:String}))
 ) AS turn_written,
 (
  SELECT maxOrNull(written_at)
  FROM llm_call
  WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')})
 ) AS call_written;

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
