SELECT start_time AS time, consortium_role AS role,
    if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds, input_tokens, output_tokens, c.cost_usd AS cost_usd,
    error_type AS error, span_id AS span
FROM llm_call AS c
WHERE project = {project:String} AND consortium_id = {id:String}
ORDER BY time, span
