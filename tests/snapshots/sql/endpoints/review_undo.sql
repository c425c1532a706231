SELECT
 project,
 subject_id,
 kind,
 annotation_id,
 created_at
FROM annotation
WHERE (subject_kind = 'turn') AND ((kind IN ('outcome', 'training_flag', 'score', 'comment')) OR (kind LIKE 'evaluation:%')) AND (author = {author:String}) AND (source = {source:String}) AND (({project:String} = '') OR (project = {project:String})) AND (((
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
 toUnixTimestamp64Nano(created_at) DESC,
 annotation_id ASC
LIMIT {limit:UInt32};
