(project, subject_id) IN (SELECT project, turn_id FROM ({source}))
