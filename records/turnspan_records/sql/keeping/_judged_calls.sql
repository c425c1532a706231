SELECT project AS of_project, subject_id, toString(max(assumeNotNull(training_flag))) AS said
FROM {judged} WHERE {_flags} AND
