SELECT session_id, trace_id, turn_id, span_id, start_time, operation, request_model, response_model,
    error_type, stream_outcome, agent_name, agent_version, lower(hex(system_prompt)) AS system,
    lower(hex(tool_definitions)) AS tools,
    JSONExtractRaw(request_parameters, 'parallel_tool_calls') AS parallel,
    arrayMap(h -> lower(hex(h)), input_messages) AS inputs,
    arrayMap(h -> lower(hex(h)), output_messages) AS outputs, attempt_id, finish_reasons,
    consortium_id, lineage_id
FROM llm_call WHERE {_these} AND {_replied}
ORDER BY start_time, span_id
