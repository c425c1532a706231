SELECT turn_id, parent_turn_id, trace_id, span_id, session_id, start_time, duration, status,
    agent_name, agent_version, user_message, response_text, stop_reason, stop_detail, rounds,
    max_rounds, llm_call_count, tool_call_count, tool_error_count, turn_intent, input_tokens,
    output_tokens, cost_usd, models, error_type, error_message
FROM turn_summary
WHERE {where}
ORDER BY start_time, span_id
