SELECT
 l.project AS project,
 l.lineage_id AS lineage_id,
 any(l.label) AS label
FROM
(
 SELECT
  project,
  lineage_id,
  label
 FROM lineage
 WHERE (({project:String} = '') OR (project = {project:String})) AND (experiment_id = {experiment:String})
) AS l
INNER JOIN
(
 SELECT
  project,
  lineage_id,
  started_at
 FROM attempt
 WHERE (({project:String} = '') OR (project = {project:String})) AND (lineage_id IN (
  SELECT lineage_id
  FROM lineage
  WHERE experiment_id = {experiment:String}
 ))
) AS a ON (a.project = l.project) AND (a.lineage_id = l.lineage_id)
GROUP BY
 project,
 lineage_id
ORDER BY
 min(a.started_at) ASC,
 label ASC;

SELECT
 a.attempt_id AS attempt_id,
 r.task AS case_id,
 a.cycle AS repetition,
 a.status AS status,
 a.output AS output,
 a.error_type AS error_type,
 a.error_message AS error_message,
 a.started_at AS started_at,
 a.duration AS duration,
 JSONExtractString(a.parameters, 'trace') AS trace_id
FROM
(
 SELECT *
 FROM attempt
 WHERE (project = {project:String}) AND (lineage_id = {lineage:String}) AND (status IN ('succeeded', 'failed')) AND (empty({ids:Array(String)}) OR (attempt_id IN ({ids:Array(String)})))
) AS a
LEFT JOIN
(
 SELECT
  rollout_id,
  task
 FROM rollout
 WHERE (project = {project:String}) AND (lineage_id = {lineage:String})
) AS r ON r.rollout_id = a.rollout_id
ORDER BY
 started_at ASC,
 attempt_id ASC;

SELECT
 attempt_id,
 count() AS calls,
 sum(input_tokens) AS input_tokens,
 sum(output_tokens) AS output_tokens,
 sum(c.cost_usd) AS cost_usd
FROM llm_call AS c
WHERE (project = {project:String}) AND (lineage_id = {lineage:String}) AND (attempt_id IN ({ids:Array(String)})) AND (start_time >= {since:DateTime64(9, 'UTC')})
GROUP BY attempt_id;

SELECT
 attempt_id,
 argMax(stop_reason, start_time) AS stop_reason
FROM turn_summary
WHERE (project = {project:String}) AND (lineage_id = {lineage:String}) AND (parent_turn_id = '') AND (attempt_id IN ({ids:Array(String)})) AND (start_time >= {since:DateTime64(9, 'UTC')})
GROUP BY attempt_id;

SELECT
 subject_id,
 substring(kind, 12) AS scorer,
 score
FROM annotation_current
WHERE (project = {project:String}) AND (subject_kind = 'attempt') AND startsWith(kind, 'evaluation:') AND (subject_id IN ({ids:Array(String)}));

SELECT
 trace_id,
 name,
 arguments,
 failed
FROM tool_call
WHERE (project = {project:String}) AND (trace_id IN ({traces:Array(String)})) AND (start_time >= {since:DateTime64(9, 'UTC')})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 r.task AS case_id,
 argMin(a.input, a.started_at),
 min(a.started_at) AS began
FROM
(
 SELECT
  rollout_id,
  input,
  started_at
 FROM attempt
 WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)})) AND (status IN ('succeeded', 'failed'))
) AS a
INNER JOIN
(
 SELECT
  rollout_id,
  task
 FROM rollout
 WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)})) AND (task != '')
) AS r ON r.rollout_id = a.rollout_id
GROUP BY case_id
ORDER BY
 began ASC,
 case_id ASC;
