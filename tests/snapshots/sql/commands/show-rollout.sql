SELECT * EXCEPT tried
FROM rollout_current
WHERE (project = {project:String}) AND (rollout_id = {id:String});

SELECT
 started_at AS time,
 a.status AS status,
 model,
 a.duration AS duration_seconds,
 error_type AS error,
 attempt_id AS attempt
FROM attempt AS a
WHERE (project = {project:String}) AND (rollout_id = {id:String})
ORDER BY
 time ASC,
 attempt ASC;

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
