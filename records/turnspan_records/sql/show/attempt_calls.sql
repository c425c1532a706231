SELECT start_time AS time, turn_id AS turn, round,
    if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds, input_tokens, output_tokens, c.cost_usd AS cost_usd,
    error_type AS error, span_id AS span
FROM llm_call AS c
WHERE project = {project:String} AND attempt_id = {id:String}
    AND start_time >= subtractHours({since:DateTime64(9, 'UTC')}, 1)
ORDER BY time, span
