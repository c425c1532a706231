SELECT *
FROM attempt
WHERE (project = {project:String}) AND (attempt_id = {id:String});

SELECT
 start_time AS time,
 turn_id AS turn,
 round,
 if(response_model != '', response_model, request_model) AS model,
 c.duration AS duration_seconds,
 input_tokens,
 output_tokens,
 c.cost_usd AS cost_usd,
 error_type AS error,
 span_id AS span
FROM llm_call AS c
WHERE (project = {project:String}) AND (attempt_id = {id:String}) AND (start_time >= subtractHours({since:DateTime64(9, 'UTC')}, 1))
ORDER BY
 time ASC,
 span ASC;

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
