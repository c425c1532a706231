SELECT *
FROM
(
 SELECT
  annotation_id AS id,
  subject_kind,
  subject_id,
  kind,
  outcome,
  training_flag,
  score,
  comment,
  directive,
  chosen_id,
  rejected_id,
  author,
  source,
  confidence,
  ranking_id,
  created_at,
  (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
 FROM annotation
 WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (subject_id = {id:String})
 UNION ALL
 SELECT
  annotation_id AS id,
  subject_kind,
  subject_id,
  kind,
  outcome,
  training_flag,
  score,
  comment,
  directive,
  chosen_id,
  rejected_id,
  author,
  source,
  confidence,
  ranking_id,
  created_at,
  (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
 FROM annotation
 WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (kind = 'preference') AND (rejected_id = {id:String})
)
ORDER BY
 created_at ASC,
 id ASC;

SELECT count()
FROM withdrawal;

SELECT
 kind,
 subject_id,
 annotation_id AS id,
 withdrawn_at,
 withdrawn_by,
 reason
FROM annotation_withdrawn
WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (subject_id IN ({ids:Array(String)}));

SELECT count()
FROM tombstone;

INSERT INTO turnspan.withdrawal FORMAT Native;

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
