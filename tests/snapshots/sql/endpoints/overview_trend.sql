SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 toUnixTimestamp(min(start_time)) AS first,
 toUnixTimestamp(max(start_time)) AS last,
 count() AS turns,
 countIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) = 'completed') AS completed,
 countIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) NOT IN ('completed', 'running')) AS problems,
 sum(t.tool_call_count) AS tools,
 sum(t.tool_error_count) AS failed_tools,
 sum(t.cost_usd) AS cost_usd,
 sum(t.input_tokens) AS input_tokens,
 sum(t.cache_read_tokens) AS cached_tokens,
 sum(t.output_tokens) AS output_tokens,
 countIf(t.status != 'running') AS ended,
 quantilesExactIf(0.5, 0.95)(t.duration, t.status != 'running') AS seconds
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')});

SELECT
 intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
 count() AS turns,
 countIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) = 'completed') AS completed,
 countIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) NOT IN ('completed', 'running')) AS problems,
 sum(t.tool_call_count) AS tools,
 sum(t.tool_error_count) AS failed_tools,
 sum(t.cost_usd) AS cost_usd,
 sum(t.input_tokens) AS input_tokens,
 sum(t.cache_read_tokens) AS cached_tokens,
 sum(t.output_tokens) AS output_tokens,
 countIf(t.status != 'running') AS ended,
 quantilesExactIf(0.5, 0.95)(t.duration, t.status != 'running') AS seconds
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')})
GROUP BY bucket
ORDER BY bucket ASC;

SELECT
 intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
 arrayStringConcat(arraySort(t.models), ' + ') AS used,
 sum(t.cost_usd) AS cost_usd
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')})
GROUP BY
 bucket,
 used
HAVING isNotNull(cost_usd)
ORDER BY
 cost_usd DESC,
 bucket ASC,
 used ASC
LIMIT 20000;

SELECT
 intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS ended,
 count() AS turns
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')})
GROUP BY
 bucket,
 ended
ORDER BY
 bucket ASC,
 ended ASC
LIMIT 20000;

SELECT quantileExact(0.95)(time_to_first_chunk)
FROM llm_call
WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}));

SELECT
 intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bucket,
 quantileExact(0.95)(time_to_first_chunk) AS wait
FROM llm_call
WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY bucket
ORDER BY bucket ASC;
