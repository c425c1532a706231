SELECT project, session_id, any(service) AS service, any(environment) AS environment,
    any(user_id) AS user_id, min(start_time) AS first_time, max(start_time) AS last_time,
    countIf(parent_turn_id = '') AS turns, sum(t.rounds) AS rounds,
    sum(llm_call_count) AS calls, sum(tool_call_count) AS tools,
    sumIf(t.input_tokens, parent_turn_id = '') AS input_tokens,
    sumIf(t.output_tokens, parent_turn_id = '') AS output_tokens,
    sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
    arraySort(groupUniqArrayArray(t.models)) AS models
FROM turn_summary AS t
WHERE project = {project:String} AND session_id = {session:String}
GROUP BY project, session_id
