SELECT
 name,
 argMax(definition, written_at)
FROM review_queue
GROUP BY name
ORDER BY name ASC;

SELECT
 count(),
 countIf((((project, turn_id) NOT IN (
  SELECT
   project,
   subject_id
  FROM annotation
  WHERE (subject_kind = 'turn') AND (kind IN ('outcome', 'training_flag', 'score')) AND (outcome != 'pending') AND (ifNull(training_flag, 1) != 0) AND (NOT startsWith(author, 'passive:')) AND (NOT startsWith(source, 'machine')) AND ((NOT {each:Bool}) OR (author = {author:String})) AND (((
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
 )) OR has({again:Array(String)}, concat(toString(length(project)), ':', project, turn_id))) AND (NOT has({done:Array(String)}, concat(toString(length(project)), ':', project, turn_id))))
FROM
(
 SELECT *
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
 ORDER BY
  cityHash64({seed:UInt64}, turn_id) ASC,
  turn_id ASC
 LIMIT {sample:UInt32}
);

SELECT
 project,
 turn_id,
 session_id,
 trace_id
FROM
(
 SELECT *
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
 ORDER BY
  cityHash64({seed:UInt64}, turn_id) ASC,
  turn_id ASC
 LIMIT {sample:UInt32}
)
WHERE (((project, turn_id) NOT IN (
 SELECT
  project,
  subject_id
 FROM annotation
 WHERE (subject_kind = 'turn') AND (kind IN ('outcome', 'training_flag', 'score')) AND (outcome != 'pending') AND (ifNull(training_flag, 1) != 0) AND (NOT startsWith(author, 'passive:')) AND (NOT startsWith(source, 'machine')) AND ((NOT {each:Bool}) OR (author = {author:String})) AND (((
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
)) OR has({again:Array(String)}, concat(toString(length(project)), ':', project, turn_id))) AND (NOT has({done:Array(String)}, concat(toString(length(project)), ':', project, turn_id)))
ORDER BY
 cityHash64({seed:UInt64}, turn_id) ASC,
 turn_id ASC
LIMIT {limit:UInt32};
