SELECT
 j.score AS judge_score,
 j.label AS judge_label,
 p.score AS score,
 p.label AS label
FROM
(
 SELECT
  project,
  subject_kind,
  subject_id,
  argMax(score, at) AS score,
  argMax(outcome, at) AS label
 FROM
 (
  SELECT
   *,
   (created_at, annotation_id) AS at
  FROM annotation
 )
 WHERE (kind = {kind:String}) AND (source = {source:String}) AND (({project:String} = '') OR (project = {project:String})) AND (({author:String} = '') OR (author = {author:String})) AND (((
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
 GROUP BY
  project,
  subject_kind,
  subject_id
) AS j
INNER JOIN
(
 SELECT
  project,
  subject_kind,
  subject_id,
  argMax(score, at) AS score,
  argMax(outcome, at) AS label
 FROM
 (
  SELECT
   *,
   (created_at, annotation_id) AS at
  FROM annotation
 )
 WHERE (kind = {people:String}) AND (outcome != 'pending') AND (NOT startsWith(author, 'passive:')) AND (NOT startsWith(source, 'machine')) AND (({project:String} = '') OR (project = {project:String})) AND (((
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
 GROUP BY
  project,
  subject_kind,
  subject_id
) AS p ON (p.project = j.project) AND (p.subject_kind = j.subject_kind) AND (p.subject_id = j.subject_id)
ORDER BY
 j.project ASC,
 j.subject_kind ASC,
 j.subject_id ASC;
