SELECT
 l.project AS project,
 l.experiment_id AS experiment,
 max(greatest(l.opened_at, r.last)) AS last_time,
 count() AS lineages,
 sum(r.rollouts) AS rollouts,
 max(r.cycle) AS cycle,
 any(leftUTF8(e.need, 240)) AS need_text
FROM
(
 SELECT *
 FROM lineage
) AS l
LEFT JOIN
(
 SELECT
  project,
  lineage_id,
  count() AS rollouts,
  max(r.cycle) AS cycle,
  max(started_at) AS last
 FROM rollout AS r
 GROUP BY
  project,
  lineage_id
) AS r ON (r.project = l.project) AND (r.lineage_id = l.lineage_id)
LEFT JOIN
(
 SELECT *
 FROM experiment
) AS e ON (e.project = l.project) AND (e.experiment_id = l.experiment_id)
WHERE ({project:String} = '') OR (project = {project:String})
GROUP BY
 project,
 experiment
ORDER BY
 last_time DESC,
 experiment ASC
LIMIT {limit:UInt32};

SELECT DISTINCT project
FROM lineage
WHERE (experiment_id = {experiment:String}) AND (({project:String} = '') OR (project = {project:String}))
UNION DISTINCT
SELECT DISTINCT project
FROM experiment
WHERE (experiment_id = {experiment:String}) AND (({project:String} = '') OR (project = {project:String}));

SELECT
 need,
 constraints
FROM experiment
WHERE (project = {project:String}) AND (experiment_id = {experiment:String});

SELECT
 lineage_id,
 label,
 strategy,
 directive,
 once,
 locked,
 evolve
FROM lineage_current
WHERE (project = {project:String}) AND (experiment_id = {experiment:String})
ORDER BY
 label ASC,
 lineage_id ASC;

SELECT
 lineage_id,
 kind,
 text,
 author,
 created_at
FROM lineage_event
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}))
ORDER BY
 created_at ASC,
 event_id ASC;

SELECT
 lineage_id,
 evolution_id,
 from_version,
 to_version,
 trigger,
 hypothesis,
 plan,
 changes,
 author,
 created_at,
 from_score,
 next_score,
 score_delta,
 hypothesis_validated
FROM evolution_outcome
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}))
ORDER BY
 created_at ASC,
 evolution_id ASC;

SELECT
 subject_id,
 kind,
 score
FROM result_score
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}));

SELECT
 rollout_id,
 attempt_id,
 status,
 model,
 parameters,
 input,
 output,
 error_type,
 error_message,
 started_at,
 duration
FROM attempt
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}))
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
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)})) AND (attempt_id != '') AND (start_time >= {since:DateTime64(9, 'UTC')})
GROUP BY attempt_id;

SELECT
 attempt_id,
 argMin(user_message, start_time) AS input,
 argMax(response_text, start_time) AS output
FROM turn_summary
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)})) AND (attempt_id != '') AND (parent_turn_id = '') AND (start_time >= {since:DateTime64(9, 'UTC')})
GROUP BY attempt_id;

SELECT
 lineage_id,
 rollout_id,
 cycle,
 task,
 version_id,
 status,
 final_attempt_id,
 started_at,
 duration
FROM rollout_current
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}))
ORDER BY
 cycle ASC,
 task ASC,
 started_at ASC,
 rollout_id ASC;

SELECT
 lineage_id,
 attempt_id,
 artifact_id,
 target,
 kind,
 version,
 version_id,
 cycle,
 created_at
FROM artifact
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}))
ORDER BY
 created_at ASC,
 artifact_id ASC;

SELECT
 lineage_id,
 version_id,
 name,
 lower(hex(content)) AS content_hash,
 created_at
FROM agent_version
WHERE (project = {project:String}) AND (lineage_id IN ({lineages:Array(String)}))
ORDER BY
 created_at ASC,
 version_id ASC;

SELECT
 lower(hex(hash)) AS id,
 body
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));

SELECT
 insight_id,
 lineage_id,
 pattern,
 change,
 evolution_ids,
 confidence,
 author,
 created_at
FROM insight
WHERE (project = {project:String}) AND ((experiment_id = {experiment:String}) OR ((lineage_id != '') AND (lineage_id IN ({lineages:Array(String)}))))
ORDER BY
 created_at ASC,
 insight_id ASC;
