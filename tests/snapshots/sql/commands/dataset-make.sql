SELECT
 t.project AS project,
 t.session_id AS session_id,
 t.turn_id AS turn_id,
 if(t.user_message != '', t.user_message, a.input) AS input,
 multiIf(j.correction != '', j.correction, j.good, t.response_text, '') AS expected
FROM
(
 SELECT
  project,
  session_id,
  turn_id,
  attempt_id,
  start_time,
  user_message,
  response_text
 FROM turn_summary AS t
 WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (t.status != 'running')
 ORDER BY
  start_time DESC,
  turn_id ASC
 LIMIT {limit:UInt32}
) AS t
LEFT JOIN
(
 SELECT
  project,
  attempt_id,
  input
 FROM attempt
 WHERE (({project:String} = '') OR (project = {project:String}))
) AS a ON (a.project = t.project) AND (a.attempt_id = t.attempt_id)
LEFT JOIN
(
 SELECT
  project,
  subject_id,
  anyIf(comment, kind = 'evaluation:correction') AS correction,
  maxIf(training_flag, kind = 'training_flag') AS flag,
  ((countIf((kind = 'outcome') AND (outcome = 'used')) > 0) OR (flag = 1)) AND (ifNull(flag, 0) != -1) AS good
 FROM annotation_current
 WHERE (subject_kind = 'turn') AND (({project:String} = '') OR (project = {project:String}))
 GROUP BY
  project,
  subject_id
) AS j ON (j.project = t.project) AND (j.subject_id = t.turn_id)
WHERE input != ''
ORDER BY
 t.start_time DESC,
 t.turn_id ASC;

SELECT
 project,
 dataset,
 version,
 count() AS cases,
 countIf(expected != '') AS with_expected,
 countIf(turn_id != '') AS from_turns,
 max(d.created_at) AS created_at
FROM dataset_case AS d
WHERE (({project:String} = '') OR (project = {project:String})) AND (({dataset:String} = '') OR (dataset = {dataset:String}))
GROUP BY
 project,
 dataset,
 version
ORDER BY
 created_at DESC,
 dataset ASC,
 version ASC
LIMIT {limit:UInt32};

SELECT count()
FROM tombstone;

INSERT INTO turnspan.dataset_case FORMAT Native;

SELECT
 project,
 session_id,
 trace_id,
 turn_id
FROM turn_summary
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM attempt
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM rollout
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM consortium
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM llm_call_running
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));
