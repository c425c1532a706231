SELECT if(session_id != '', session_id, trace_id) AS scope, provider, operation, request_parameters,
    arrayMap(h -> lower(hex(h)), input_messages) AS hashes,
    lower(hex(system_prompt)) AS system, lower(hex(tool_definitions)) AS tools,
    attributes['server.address'] AS server
FROM llm_call WHERE project = {project:String} AND span_id = {span:String} LIMIT 1
