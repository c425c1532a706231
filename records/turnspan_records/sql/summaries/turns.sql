SELECT session_id, turn_id, parent_turn_id, start_time, duration, status, user_id, agent_name,
    leftUTF8(user_message, {asked:UInt32}) AS asked, stop_reason, stop_detail, rounds,
    llm_call_count AS calls, tool_call_count AS tools, tool_error_count AS tool_errors,
    input_tokens, output_tokens, cost_usd, models, error_type
FROM turn_summary
WHERE project = {project:String} AND session_id IN {sessions:Array(String)}
ORDER BY session_id, start_time, turn_id
