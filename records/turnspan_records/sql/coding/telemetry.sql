-- What coding agents told of sessions whose transcripts are imported, in the order of its ends.
SELECT session_id, name, scope_name, attributes, toUnixTimestamp64Nano(start_time), duration FROM span
WHERE session_id IN {sessions:Array(String)} AND scope_name IN {scopes:Array(String)}
    AND mapContains(attributes, {mark:String})
ORDER BY session_id, addNanoseconds(start_time, toInt64(duration * 1e9))
