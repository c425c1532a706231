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

SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;
