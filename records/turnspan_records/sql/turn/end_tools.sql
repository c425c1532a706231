SELECT span_id, round, name, start_time, failed, error_type, error_message,
    leftUTF8(arguments, {head:UInt32}) AS arguments, leftUTF8(result, {head:UInt32}) AS result,
    toString(sipHash64(name, arguments, result)) AS alike
FROM tool_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY start_time DESC, span_id LIMIT {limit:UInt32}
