-- What a call wrote; a correction is nothing that it wrote.
SELECT created_at, artifact_id FROM artifact
WHERE call_id = ? AND project = ? AND kind != 'correction'
ORDER BY artifact_id
