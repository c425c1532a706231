SELECT project, source, artifact_id, turn_id, target, decision, reason, revision, found_by,
    revised_at, later_revision, correction_id, similarity, decided_at, checked_at,
    toUnixTimestamp64Nano(decided_at) AS decided
FROM artifact_check
