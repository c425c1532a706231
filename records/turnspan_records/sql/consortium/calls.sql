SELECT span_id, attributes['turnspan.consortium.member'] AS named, consortium_role AS role,
    toUInt32OrZero(attributes['turnspan.consortium.iteration']) AS iteration,
    if(response_model != '', response_model, request_model) AS model, start_time,
    c.duration AS duration, input_tokens, output_tokens, c.cost_usd AS cost_usd, response_text,
    error_type, error_message
FROM llm_call AS c
WHERE project = {project:String} AND consortium_id = {run:String}
    AND start_time IN
    (
        SELECT start_time FROM llm_call
        WHERE project = {project:String} AND consortium_id = {run:String} SETTINGS final = 0
    )
ORDER BY start_time, span_id
