WITH
 chosen AS
 (
  SELECT
   project,
   turn_id,
   rollout_id
  FROM turn_summary AS t
  WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (session_id IN ({f0:Array(String)})) AND (t.status != 'running') AND (({version:String} = '') OR (agent_version = {version:String}))
  ORDER BY
   start_time DESC,
   turn_id ASC
  LIMIT {limit:UInt32}
 )
SELECT
 'turn' AS kind,
 t.turn_id AS id,
 t.project AS project,
 t.session_id AS session,
 multiIf(r.task != '', r.task, t.user_message = '', '', concat('message:', lower(hex(sipHash128(t.user_message))))) AS case,
 if(r.task != '', r.task, leftUTF8(t.user_message, 120)) AS asked,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS end,
 t.tool_error_count AS tool_failures,
 (greatest(t.max_identical_tool_streak, t.no_progress_rounds) >= 3) OR startsWith(t.stop_reason, 'loop_detected:') AS loops,
 t.rounds AS rounds,
 toFloat64(t.cost_usd) AS cost_usd,
 t.duration AS seconds,
 u.tools AS tools,
 s.scores AS scores
FROM turn_summary AS t
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
) AS r ON (r.project = t.project) AND (r.rollout_id = t.rollout_id)
LEFT JOIN
(
 SELECT
  project,
  turn_id,
  arrayMap(one -> (one.3), arraySort(groupArray((start_time, span_id, toString(name))))) AS tools
 FROM tool_call
 WHERE (project, turn_id) IN (
  SELECT
   project,
   turn_id
  FROM chosen
 )
 GROUP BY
  project,
  turn_id
) AS u ON (u.project = t.project) AND (u.turn_id = t.turn_id)
LEFT JOIN
(
 SELECT
  project,
  subject_id,
  groupArray((toString(kind), assumeNotNull(score))) AS scores
 FROM annotation_current
 WHERE (subject_kind = 'turn') AND isNotNull(score) AND ((kind = 'score') OR startsWith(kind, 'evaluation:')) AND ((project, subject_id) IN (
  SELECT
   project,
   turn_id
  FROM chosen
 ))
 GROUP BY
  project,
  subject_id
) AS s ON (s.project = t.project) AND (s.subject_id = t.turn_id)
WHERE (t.project, t.turn_id) IN (
 SELECT
  project,
  turn_id
 FROM chosen
)
ORDER BY
 t.start_time ASC,
 t.turn_id ASC;
