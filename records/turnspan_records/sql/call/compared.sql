SELECT project, span_id, session_id, trace_id, turn_id, agent_name, start_time,
    if(response_model != '', response_model, request_model) AS model, request_model, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, request_parameters,
    lower(hex(system_prompt)) AS system, lower(hex(tool_definitions)) AS tools,
    arrayMap(h -> lower(hex(h)), input_messages) AS hashes
FROM llm_call
WHERE project = {project:String} AND span_id IN {spans:Array(String)}
