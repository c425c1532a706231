-- The calls of tools that edit files, of a session and from a time on, the earliest first.
SELECT name, arguments, toUnixTimestamp64Nano(start_time),
    toUnixTimestamp64Nano(start_time) + toInt64(duration * 1e9) FROM tool_call
WHERE session_id = {session:String} AND toUnixTimestamp64Nano(start_time) >= {since:Int64}
    AND {changes_files}
ORDER BY start_time
