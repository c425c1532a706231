SELECT
 name,
 argMax(definition, written_at)
FROM review_queue
GROUP BY name
ORDER BY name ASC;

SELECT
 kind,
 outcome,
 flag,
 count() AS number,
 avg(score)
FROM
(
 SELECT
  project,
  subject_id,
  kind,
  argMax(outcome, at) AS outcome,
  argMax(training_flag, at) AS flag,
  argMax(score, at) AS score
 FROM
 (
  SELECT
   *,
   (toUnixTimestamp64Nano(created_at), annotation_id) AS at
  FROM annotation
 )
 WHERE (subject_kind = 'turn') AND (kind IN ('outcome', 'training_flag', 'score')) AND (author = {author:String}) AND (((
  SELECT count()
  FROM withdrawal
 ) = 0) OR ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
  SELECT
   project,
   subject_kind,
   kind,
   subject_id,
   annotation_id
  FROM annotation_withdrawn
 )))
 GROUP BY
  project,
  subject_id,
  kind
)
WHERE (project, subject_id) IN (
 SELECT
  project,
  turn_id
 FROM
 (
  SELECT
   project,
   session_id,
   trace_id,
   turn_id,
   start_time,
   ifNull(t.cost_usd, 0) AS cost
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND (status IN ('final', 'interrupted')) AND (({project:String} = '') OR (project = {project:String})) AND (({agent:String} = '') OR (agent_name = {agent:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND ((NOT {odd:Bool}) OR (status != 'final') OR (t.stop_reason != 'completed')) AND (empty({reasons:Array(String)}) OR has({reasons:Array(String)}, if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status)))
 )
)
GROUP BY
 kind,
 outcome,
 flag
ORDER BY
 kind ASC,
 outcome ASC,
 flag ASC;

SELECT
 count(),
 countIf(outcome = found)
FROM
(
 SELECT
  project,
  subject_id,
  kind,
  argMax(outcome, at) AS outcome,
  argMax(training_flag, at) AS flag,
  argMax(score, at) AS score
 FROM
 (
  SELECT
   *,
   (toUnixTimestamp64Nano(created_at), annotation_id) AS at
  FROM annotation
 )
 WHERE (subject_kind = 'turn') AND (kind IN ('outcome', 'training_flag', 'score')) AND (author = {author:String}) AND (((
  SELECT count()
  FROM withdrawal
 ) = 0) OR ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
  SELECT
   project,
   subject_kind,
   kind,
   subject_id,
   annotation_id
  FROM annotation_withdrawn
 )))
 GROUP BY
  project,
  subject_id,
  kind
) AS o
INNER JOIN
(
 SELECT
  project,
  subject_id,
  argMax(outcome, at) AS found
 FROM
 (
  SELECT
   *,
   (toUnixTimestamp64Nano(created_at), annotation_id) AS at
  FROM annotation
 )
 WHERE (subject_kind = 'turn') AND (kind = 'outcome') AND startsWith(author, 'passive:') AND (outcome != 'pending') AND (((
  SELECT count()
  FROM withdrawal
 ) = 0) OR ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
  SELECT
   project,
   subject_kind,
   kind,
   subject_id,
   annotation_id
  FROM annotation_withdrawn
 )))
 GROUP BY
  project,
  subject_id
) AS p ON (o.project = p.project) AND (o.subject_id = p.subject_id)
WHERE (kind = 'outcome') AND (outcome != 'pending') AND ((project, subject_id) IN (
 SELECT
  project,
  turn_id
 FROM
 (
  SELECT
   project,
   session_id,
   trace_id,
   turn_id,
   start_time,
   ifNull(t.cost_usd, 0) AS cost
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND (status IN ('final', 'interrupted')) AND (({project:String} = '') OR (project = {project:String})) AND (({agent:String} = '') OR (agent_name = {agent:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND ((NOT {odd:Bool}) OR (status != 'final') OR (t.stop_reason != 'completed')) AND (empty({reasons:Array(String)}) OR has({reasons:Array(String)}, if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status)))
 )
));
