SELECT *, toUnixTimestamp64Nano(start_time) AS time,
    arrayMap(h -> lower(hex(h)), input_messages) AS inputs,
    arrayMap(h -> lower(hex(h)), output_messages) AS outputs,
    lower(hex(system_prompt)) AS system, lower(hex(tool_definitions)) AS tools,
    lower(hex(context_assembled)) AS context
FROM llm_call WHERE project = {project:String} AND span_id = {span:String} LIMIT 1
