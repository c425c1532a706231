SELECT start_time AS time, round, if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds, input_tokens, output_tokens, c.cost_usd AS cost_usd,
    arrayStringConcat(finish_reasons, ', ') AS finish, error_type AS error, span_id AS span
FROM llm_call AS c
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY time, span
