argMin((system_prompt, tool_definitions, input_messages), (start_time, span_id))
