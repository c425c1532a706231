SELECT if(session_id != '', session_id, trace_id) AS scope, input_tokens,
    lower(hex(system_prompt)) AS system, lower(hex(tool_definitions)) AS tools,
    arrayMap(h -> lower(hex(h)), input_messages) AS inputs
FROM llm_call WHERE project = {project:String} AND span_id = {call:String} LIMIT 1
