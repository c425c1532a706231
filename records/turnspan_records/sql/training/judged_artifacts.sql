SELECT project, artifact_id, target, kind, lower(hex(content)), content_bytes,
    session_id, turn_id, call_id, attempt_id, created_at
FROM artifact
WHERE {_only} AND cityHash64(artifact_id) % {pages:UInt64} = {page:UInt64}
    AND artifact_id IN (SELECT arrayJoin([subject_id, chosen_id, rejected_id])
        FROM annotation WHERE subject_kind = 'artifact' AND {not_withdrawn})
