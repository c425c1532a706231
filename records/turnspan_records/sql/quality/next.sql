SELECT project, target, artifact_id, kind, version, content_bytes, lower(hex(content)) AS hash, session_id, trace_id,
    turn_id, call_id, toUnixTimestamp64Nano(created_at) AS told_at
{_wanted} AND (project, target, artifact_id) >
    ({after_project:String}, {after_target:String}, {after_id:String})
ORDER BY project, target, artifact_id LIMIT {size:UInt32}
