SELECT *
FROM turn_summary
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {id:String})
LIMIT 1;

SELECT
 start_time AS time,
 round,
 if(response_model != '', response_model, request_model) AS model,
 c.duration AS duration_seconds,
 input_tokens,
 output_tokens,
 c.cost_usd AS cost_usd,
 arrayStringConcat(finish_reasons, ', ') AS finish,
 error_type AS error,
 span_id AS span
FROM llm_call AS c
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
ORDER BY
 time ASC,
 span ASC;

SELECT
 start_time AS time,
 round,
 name AS tool,
 t.duration AS duration_seconds,
 failed,
 error_type AS error,
 leftUTF8(arguments, 240) AS arguments,
 span_id AS span
FROM tool_call AS t
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
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
