SELECT lineage_id, attempt_id, artifact_id, target, kind, version, version_id, cycle, created_at
FROM artifact WHERE {_of} ORDER BY created_at, artifact_id
