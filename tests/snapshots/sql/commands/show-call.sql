SELECT *
FROM llm_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (span_id = {id:String})
LIMIT 1;

SELECT
 lower(hex(hash)) AS id,
 role,
 name,
 parts,
 source,
 dialect
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String});

SELECT
 lower(hex(hash)) AS id,
 body
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));

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
