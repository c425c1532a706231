SELECT span_id, name, round, failed, error_type, leftUTF8(error_message, 200) AS error_message,
    sipHash64(name, arguments) AS asked, sipHash64(result) AS given
FROM tool_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY start_time, span_id
