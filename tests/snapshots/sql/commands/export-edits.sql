SELECT toString(toUnixTimestamp64Nano(min(applied_at)))
FROM turnspan.schema_migration;

SELECT
 count(),
 toString(max(written_at))
FROM llm_call;

SELECT
 count(),
 toString(max(written_at))
FROM turn_summary;

SELECT
 count(),
 toString(max(written_at))
FROM message;

SELECT
 count(),
 toString(max(written_at))
FROM annotation;

SELECT
 count(),
 toString(max(written_at))
FROM withdrawal;

SELECT
 count(),
 toString(max(written_at))
FROM artifact;

SELECT
 count(),
 toString(max(written_at))
FROM lineage_event;

SELECT
 count(),
 toString(max(written_at))
FROM rollout;

SELECT
 count(),
 toString(max(written_at))
FROM attempt;

SELECT count()
FROM annotation
WHERE (({only:String} = '') OR (project = {only:String}));

SELECT
 project,
 if(subject_kind = 'llm_call', 'call', subject_kind),
 subject_id,
 kind,
 outcome,
 training_flag,
 score,
 author,
 chosen_id,
 rejected_id,
 annotation_id
FROM annotation
WHERE (({only:String} = '') OR (project = {only:String})) AND ((cityHash64(if(kind = 'preference', [least(chosen_id, rejected_id), greatest(chosen_id, rejected_id)][1], subject_id)) % {pages:UInt64}) = {page:UInt64}) AND ((kind IN ('outcome', 'training_flag', 'score', 'preference')) OR startsWith(kind, 'evaluation:')) AND (((
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
ORDER BY
 startsWith(author, 'passive:') OR startsWith(source, 'machine') ASC,
 created_at DESC,
 written_at DESC,
 annotation_id DESC
LIMIT 1 BY
 project,
 subject_kind,
 kind,
 author,
 if(kind = 'preference', [least(chosen_id, rejected_id), greatest(chosen_id, rejected_id)], [subject_id]);

SELECT
 project,
 artifact_id,
 target,
 kind,
 lower(hex(content)),
 content_bytes,
 session_id,
 turn_id,
 call_id,
 attempt_id,
 created_at
FROM artifact
WHERE (({only:String} = '') OR (project = {only:String})) AND ((cityHash64(artifact_id) % {pages:UInt64}) = {page:UInt64}) AND (artifact_id IN (
 SELECT arrayJoin([subject_id, chosen_id, rejected_id])
 FROM annotation
 WHERE (subject_kind = 'artifact') AND (((
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
));

WITH
 of AS
 (
  SELECT
   project,
   experiment_id,
   lineage_id,
   locked,
   locked_time
  FROM lineage_current
  WHERE (({only:String} = '') OR (project = {only:String}))
 ),
 at_least_one AS
 (
  SELECT
   project,
   experiment_id
  FROM of
  WHERE locked
 ),
 made AS
 (
  SELECT
   project,
   lineage_id,
   cycle,
   task,
   version_id,
   started_at,
   final_attempt_id,
   status
  FROM rollout_current
  WHERE (({only:String} = '') OR (project = {only:String}))
 ),
 held AS
 (
  SELECT
   m.project AS project,
   m.lineage_id AS lineage_id,
   argMax(m.version_id, m.started_at) AS version_id
  FROM made AS m
  INNER JOIN of AS o ON (o.project = m.project) AND (o.lineage_id = m.lineage_id)
  WHERE o.locked AND (m.started_at <= o.locked_time)
  GROUP BY
   project,
   lineage_id
 ),
 by AS
 (
  SELECT
   project,
   lineage_id,
   argMax(e.author, created_at) AS author,
   argMax(kind, created_at) AS word
  FROM lineage_event AS e
  WHERE (kind IN ('locked', 'unlocked')) AND (empty({authors:Array(String)}) OR (e.author IN ({authors:Array(String)})))
  GROUP BY
   project,
   lineage_id
 )
SELECT
 m.project AS project,
 m.final_attempt_id AS attempt_id,
 o.experiment_id AS experiment_id,
 m.cycle AS of_cycle,
 m.task AS of_task,
 toUInt8(o.locked) AS is_locked,
 by.author AS said_by
FROM made AS m
INNER JOIN of AS o ON (o.project = m.project) AND (o.lineage_id = m.lineage_id)
LEFT JOIN held AS h ON (h.project = m.project) AND (h.lineage_id = m.lineage_id)
LEFT JOIN by ON (by.project = m.project) AND (by.lineage_id = m.lineage_id)
WHERE (m.status = 'succeeded') AND (m.final_attempt_id != '') AND ((o.project, o.experiment_id) IN (
 SELECT
  project,
  experiment_id
 FROM at_least_one
)) AND ((NOT o.locked) OR (h.lineage_id = '') OR (h.version_id = m.version_id)) AND ((NOT o.locked) OR empty({authors:Array(String)}) OR (by.word = 'locked'))
ORDER BY
 project ASC,
 attempt_id ASC;

SELECT
 project,
 session_id,
 span_id,
 turn_id,
 call_id,
 name,
 arguments,
 toUnixTimestamp64Nano(t.start_time) AS at,
 attributes['turnspan.import.toolUseResult'] AS beside,
 turn.complains AS complains,
 turn.refused AS refused
FROM tool_call AS t
LEFT JOIN
(
 SELECT
  project,
  turn_id,
  (parent_turn_id = '') AND match(user_message, '(?i)(^\\W*(no|nope|wrong|stop|undo|revert|not)\\b|\\b(don.?t|do not|didn.?t|doesn.?t|isn.?t|not what|instead of|wrong|incorrect|still (broken|fails|failing|not)|i (said|told|asked)|again you|you (forgot|missed|broke)|undo|revert|as i said|should (not|have))\\b)') AS complains,
  turn_id IN (
   SELECT subject_id
   FROM annotation_current
   WHERE (subject_kind = 'turn') AND (kind = 'outcome') AND (outcome IN ('modified', 'rejected'))
  ) AS refused
 FROM turn_summary
 WHERE (({project:String} = '') OR (project = {project:String}))
) AS turn USING (project, turn_id)
WHERE ((project, session_id, toUnixTimestamp64Nano(t.start_time), span_id) > ({after_project:String}, {after_session:String}, {after_time:Int64}, {after_span:String})) AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (session_id != '') AND (call_id != '') AND (NOT failed) AND (lower(replaceRegexpAll(splitByChar('.', toString(name))[-1], '[\\s_-]', '')) IN ({tools:Array(String)}))
ORDER BY
 project ASC,
 session_id ASC,
 at ASC,
 span_id ASC
LIMIT {page:UInt32};

SELECT count()
FROM llm_call
WHERE (({only:String} = '') OR (project = {only:String}));

SELECT
 project,
 session_id AS scope,
 sum(length(input_messages)) AS inputs
FROM llm_call
WHERE (session_id != '') AND (operation IN ('', 'chat', 'text_completion', 'generate_content')) AND ((project, session_id) > ({project:String}, {scope:String})) AND (({only:String} = '') OR (project = {only:String})) AND (start_time >= {since:DateTime64(9, 'UTC')})
GROUP BY
 project,
 scope
ORDER BY
 project ASC,
 scope ASC
LIMIT {page:UInt32};

SELECT
 session_id,
 trace_id,
 turn_id,
 start_time,
 status,
 agent_name,
 agent_version,
 stop_reason,
 attempt_id,
 user_id
FROM turn_summary
WHERE (project = {project:String}) AND (session_id IN ({scopes:Array(String)})) AND (({turn:String} = '') OR (turn_id = {turn:String}))
ORDER BY
 start_time ASC,
 turn_id ASC;

SELECT
 session_id,
 trace_id,
 turn_id,
 span_id,
 start_time,
 operation,
 request_model,
 response_model,
 error_type,
 stream_outcome,
 agent_name,
 agent_version,
 lower(hex(system_prompt)) AS system,
 lower(hex(tool_definitions)) AS tools,
 JSONExtractRaw(request_parameters, 'parallel_tool_calls') AS parallel,
 arrayMap(h -> lower(hex(h)), input_messages) AS inputs,
 arrayMap(h -> lower(hex(h)), output_messages) AS outputs,
 attempt_id,
 finish_reasons,
 consortium_id,
 lineage_id
FROM llm_call
WHERE (project = {project:String}) AND (session_id IN ({scopes:Array(String)})) AND (({turn:String} = '') OR (turn_id = {turn:String})) AND (operation IN ('', 'chat', 'text_completion', 'generate_content'))
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 lower(hex(hash)) AS id,
 body,
 source
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));

SELECT
 scope,
 sum(length(parts))
FROM message
WHERE (project = {project:String}) AND (scope IN ({scopes:Array(String)}))
GROUP BY scope;

SELECT
 scope,
 lower(hex(hash)),
 role,
 name,
 parts,
 dialect
FROM message
WHERE (project = {project:String}) AND (scope IN ({scopes:Array(String)}));

SELECT
 project,
 trace_id AS scope,
 sum(length(input_messages)) AS inputs
FROM llm_call
WHERE (session_id = '') AND (operation IN ('', 'chat', 'text_completion', 'generate_content')) AND ((project, trace_id) > ({project:String}, {scope:String})) AND (({only:String} = '') OR (project = {only:String})) AND (start_time >= {since:DateTime64(9, 'UTC')})
GROUP BY
 project,
 scope
ORDER BY
 project ASC,
 scope ASC
LIMIT {page:UInt32};
