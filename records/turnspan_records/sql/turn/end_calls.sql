SELECT span_id, round, if(response_model != '', response_model, request_model) AS model,
    start_time, finish_reasons, tool_calls NOT IN ('', '[]') AS asked_for_tools, output_tokens,
    error_type, error_message, leftUTF8(response_text, {head:UInt32}) AS said
FROM llm_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY start_time DESC, span_id LIMIT {limit:UInt32}
