SELECT artifact_id, target, kind, content, content_bytes, session_id, turn_id, call_id
FROM artifact WHERE artifact_id = ? AND project = ?
