-- The rows of annotation that are not withdrawn. The count comes first: where nothing ever was, the
-- engine leaves out the view before it plans it.
((SELECT count() FROM withdrawal) = 0
    OR (project, subject_kind, kind, subject_id, annotation_id) NOT IN
        (SELECT project, subject_kind, kind, subject_id, annotation_id FROM annotation_withdrawn))
