-- What the model calls of an answer were told, and what they used.
SELECT count() AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
    sum(c.cost_usd) AS cost_usd, lower(hex(argMin(system_prompt, start_time))) AS prompt,
    lower(hex(argMin(tool_definitions, start_time))) AS tools,
    argMin(request_parameters, start_time) AS parameters,
    arraySort(groupUniqArray(if(response_model = '', request_model, response_model))) AS models
FROM llm_call AS c
WHERE project = {project:String} AND {column} = {id:String}
    AND start_time >= {since:DateTime64(9, 'UTC')}
