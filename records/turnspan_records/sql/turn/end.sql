SELECT turn_id, project, session_id, start_time, t.duration AS duration, agent_name,
    user_message, response_text, rounds, max_rounds, llm_call_count, tool_call_count,
    tool_error_count, t.cost_usd AS cost_usd, error_type, error_message
FROM turn_summary AS t
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
LIMIT 1
