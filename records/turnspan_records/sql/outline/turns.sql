SELECT turn_id, parent_turn_id, trace_id, span_id, session_id, start_time, duration, status,
    agent_name, agent_version, leftUTF8(user_message, {cut}) AS user_message,
    leftUTF8(response_text, {cut}) AS response_text, stop_reason, stop_detail, rounds, max_rounds,
    llm_call_count, tool_call_count, tool_error_count, turn_intent, input_tokens, output_tokens,
    cost_usd, models, error_type, error_message,
    length(turn_summary.user_message) AS asked_bytes,
    length(turn_summary.response_text) AS answered_bytes, max_identical_tool_streak
FROM turn_summary WHERE {where} ORDER BY start_time, span_id
