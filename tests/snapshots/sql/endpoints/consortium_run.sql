SELECT *
FROM consortium_run
WHERE (project = {project:String}) AND (consortium_id = {run:String});

SELECT
 lower(hex(prompt)) AS prompt_hash,
 lower(hex(final_text)) AS final_hash,
 error_message,
 attributes['turnspan.consortium.grouped_by'] AS grouped_by,
 toUInt32OrZero(attributes['turnspan.consortium.missing_rows']) AS missing
FROM consortium
WHERE (project = {project:String}) AND (consortium_id = {run:String});

SELECT
 lower(hex(hash)) AS id,
 body
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));

SELECT
 iteration,
 member_id,
 model,
 instance,
 answer,
 started_at,
 m.duration AS duration,
 error_type,
 error_message
FROM consortium_member AS m
WHERE (project = {project:String}) AND (consortium_id = {run:String});

SELECT
 iteration,
 arbiter_id,
 model,
 synthesis,
 ranking,
 confidence,
 reasoning,
 refinement_areas,
 needs_iteration,
 raw,
 started_at,
 i.duration AS duration,
 error_type,
 error_message
FROM consortium_iteration AS i
WHERE (project = {project:String}) AND (consortium_id = {run:String});

SELECT
 span_id,
 attributes['turnspan.consortium.member'] AS named,
 consortium_role AS role,
 toUInt32OrZero(attributes['turnspan.consortium.iteration']) AS iteration,
 if(response_model != '', response_model, request_model) AS model,
 start_time,
 c.duration AS duration,
 input_tokens,
 output_tokens,
 c.cost_usd AS cost_usd,
 response_text,
 error_type,
 error_message
FROM llm_call AS c
WHERE (project = {project:String}) AND (consortium_id = {run:String}) AND (start_time IN (
 SELECT start_time
 FROM llm_call
 WHERE (project = {project:String}) AND (consortium_id = {run:String})
 SETTINGS final = 0
))
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 outer_member,
 argMin(consortium_id, started_at) AS inner_id
FROM consortium
WHERE (project = {project:String}) AND (outer_id = {run:String}) AND (outer_member != '')
GROUP BY outer_member;

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
