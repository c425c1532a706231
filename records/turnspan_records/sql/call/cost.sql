SELECT provider, response_model, request_model, toUnixTimestamp64Nano(start_time) AS time,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
    tokens_estimated, cost_usd, price_version, attributes
FROM llm_call WHERE project = {project:String} AND span_id = {span:String} LIMIT 1
