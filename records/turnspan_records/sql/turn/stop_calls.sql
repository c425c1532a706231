SELECT span_id, round, arrayStringConcat(finish_reasons, ', ') AS finish, error_type,
    stream_outcome, match(response_text, '\\S') AS spoke
FROM llm_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY start_time, span_id
