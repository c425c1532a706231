-- The newest calls of a tool: some that failed, some that worked.
SELECT failed, project, session_id, turn_id, span_id,
    toUnixTimestamp64Nano(start_time) AS nanoseconds, leftUTF8(arguments, 1000) AS arguments,
    leftUTF8(if(error_message != '', error_message, result), 400) AS said
FROM tool_call
WHERE name = {tool:String} AND {in_window}
ORDER BY start_time DESC, span_id
LIMIT {each:UInt32} BY failed
