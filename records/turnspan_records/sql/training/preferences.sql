SELECT project, subject_kind, chosen_id, rejected_id, author FROM judgment
WHERE kind = 'preference' ORDER BY project, subject_kind, chosen_id, rejected_id, annotation_id
