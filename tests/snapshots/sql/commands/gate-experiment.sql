SELECT DISTINCT
 project,
 '' AS experiment,
 '' AS lineage,
 '' AS label,
 toString(agent_version) AS version,
 '' AS name
FROM turn_summary
WHERE (({project:String} = '') OR (project = {project:String})) AND (agent_version != '')
UNION ALL
SELECT
 a.project,
 l.experiment_id,
 a.lineage_id,
 l.label,
 a.version_id,
 v.name
FROM
(
 SELECT DISTINCT
  project,
  lineage_id,
  version_id
 FROM attempt
 WHERE (({project:String} = '') OR (project = {project:String}))
) AS a
LEFT JOIN lineage AS l ON (l.project = a.project) AND (l.lineage_id = a.lineage_id)
LEFT JOIN agent_version AS v ON (v.project = a.project) AND (v.lineage_id = a.lineage_id) AND (v.version_id = a.version_id);

WITH
 chosen AS
 (
  SELECT
   project,
   attempt_id,
   rollout_id,
   status,
   started_at,
   a.duration AS duration,
   leftUTF8(a.input, 120) AS asked
  FROM attempt AS a
  WHERE (({project:String} = '') OR (project = {project:String})) AND (a.lineage_id IN ({lineages:Array(String)})) AND (a.version_id IN ({versions:Array(String)})) AND (started_at >= {since:DateTime64(9, 'UTC')}) AND (started_at < {until:DateTime64(9, 'UTC')}) AND ((status IN ('succeeded', 'failed')) OR ((status = 'interrupted') AND ((project, rollout_id) NOT IN (
   SELECT
    project,
    rollout_id
   FROM attempt
   WHERE status IN ('succeeded', 'failed')
  ))))
  ORDER BY
   started_at DESC,
   attempt_id ASC
  LIMIT {limit:UInt32}
 ),
 turn AS
 (
  SELECT
   project,
   turn_id,
   attempt_id,
   start_time,
   t.duration AS duration,
   if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS end,
   tool_error_count,
   (greatest(t.max_identical_tool_streak, t.no_progress_rounds) >= 3) OR startsWith(t.stop_reason, 'loop_detected:') AS loops,
   rounds,
   session_id
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND ((project, attempt_id) IN (
   SELECT
    project,
    attempt_id
   FROM chosen
  ))
 )
SELECT
 'attempt' AS kind,
 c.attempt_id AS id,
 c.project AS project,
 t.session AS session,
 r.task AS case,
 if(c.asked != '', c.asked, r.task) AS asked,
 multiIf(t.bad != '', t.bad, c.status = 'succeeded', 'completed', c.status) AS end,
 t.failures AS tool_failures,
 t.looped AS loops,
 if(t.turns > 0, t.rounds, m.calls) AS rounds,
 m.cost AS cost_usd,
 c.duration AS seconds,
 u.tools AS tools,
 s.scores AS scores
FROM chosen AS c
LEFT JOIN
(
 SELECT
  project,
  rollout_id,
  max(task) AS task
 FROM rollout
 WHERE (project, rollout_id) IN (
  SELECT
   project,
   rollout_id
  FROM chosen
 )
 GROUP BY
  project,
  rollout_id
) AS r ON (r.project = c.project) AND (r.rollout_id = c.rollout_id)
LEFT JOIN
(
 SELECT
  project,
  attempt_id,
  count() AS turns,
  min(session_id) AS session,
  argMaxIf(end, start_time, end != 'completed') AS bad,
  sum(tool_error_count) AS failures,
  max(loops) AS looped,
  sum(turn.rounds) AS rounds
 FROM turn
 GROUP BY
  project,
  attempt_id
) AS t ON (t.project = c.project) AND (t.attempt_id = c.attempt_id)
LEFT JOIN
(
 SELECT
  project,
  attempt_id,
  count() AS calls,
  toFloat64(sum(l.cost_usd)) AS cost
 FROM llm_call AS l
 WHERE (project, attempt_id) IN (
  SELECT
   project,
   attempt_id
  FROM chosen
 )
 GROUP BY
  project,
  attempt_id
) AS m ON (m.project = c.project) AND (m.attempt_id = c.attempt_id)
LEFT JOIN
(
 SELECT
  k.project AS project,
  n.attempt_id AS attempt_id,
  arrayMap(one -> (one.3), arraySort(groupArray((k.start_time, k.span_id, toString(k.name))))) AS tools
 FROM tool_call AS k
 INNER JOIN turn AS n ON (n.project = k.project) AND (n.turn_id = k.turn_id)
 WHERE (k.project, k.turn_id) IN (
  SELECT
   project,
   turn_id
  FROM turn
 )
 GROUP BY
  project,
  attempt_id
) AS u ON (u.project = c.project) AND (u.attempt_id = c.attempt_id)
LEFT JOIN
(
 SELECT
  project,
  attempt,
  groupArray((kind, score)) AS scores
 FROM
 (
  SELECT
   project,
   attempt_id AS attempt,
   kind,
   score
  FROM result_score
  WHERE (project, attempt_id) IN (
   SELECT
    project,
    attempt_id
   FROM chosen
  )
  UNION ALL
  SELECT
   j.project,
   n.attempt_id,
   toString(j.kind),
   assumeNotNull(j.score)
  FROM annotation_current AS j
  INNER JOIN turn AS n ON (n.project = j.project) AND (n.turn_id = j.subject_id)
  WHERE (j.subject_kind = 'turn') AND isNotNull(j.score) AND ((j.kind = 'score') OR startsWith(j.kind, 'evaluation:')) AND ((j.project, j.subject_id) IN (
   SELECT
    project,
    turn_id
   FROM turn
  ))
 )
 GROUP BY
  project,
  attempt
) AS s ON (s.project = c.project) AND (s.attempt = c.attempt_id)
ORDER BY
 c.started_at ASC,
 c.attempt_id ASC;
