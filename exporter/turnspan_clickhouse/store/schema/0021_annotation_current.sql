-- The newest judgment of each kind on each subject; the judgments before it stay in annotation.
CREATE OR REPLACE VIEW {database}.annotation_current {on_cluster} AS
SELECT *
FROM {database}.annotation FINAL
ORDER BY created_at DESC, written_at DESC, annotation_id DESC
LIMIT 1 BY project, subject_kind, subject_id, kind
