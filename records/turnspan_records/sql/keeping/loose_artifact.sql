-- An artifact that neither the improvement loop nor a judgment refers to.
lineage_id = '' AND attempt_id = '' AND (project, artifact_id) GLOBAL NOT IN (SELECT project,
    arrayJoin([subject_id, chosen_id, rejected_id]) FROM {annotation}
    WHERE subject_kind = 'artifact')
