SELECT attempt_id, count() AS calls, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(c.cost_usd) AS cost_usd
FROM llm_call AS c
WHERE project = {project:String} AND lineage_id = {lineage:String}
    AND attempt_id IN {ids:Array(String)} AND start_time >= {since:DateTime64(9, 'UTC')}
GROUP BY attempt_id
