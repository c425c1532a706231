count() AS turns,
countIf({how_ended} = 'completed') AS completed,
countIf({how_ended} NOT IN ('completed', 'running')) AS problems,
sum(t.tool_call_count) AS tools,
sum(t.tool_error_count) AS failed_tools,
sum(t.cost_usd) AS cost_usd,
sum(t.input_tokens) AS input_tokens,
sum(t.cache_read_tokens) AS cached_tokens,
sum(t.output_tokens) AS output_tokens,
countIf(t.status != 'running') AS ended,
quantilesExactIf(0.5, 0.95)(t.duration, t.status != 'running') AS seconds
FROM {turns} AS t
WHERE {where}
