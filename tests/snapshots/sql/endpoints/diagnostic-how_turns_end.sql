SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status) AS stop_reason,
 count() AS turns,
 if(stop_reason = 'running', NULL, turns / greatest(sum(countIf(status != 'running')) OVER (), 1)) AS share,
 round(avg(rounds), 1) AS avg_rounds,
 round(avg(tool_call_count), 1) AS avg_tools,
 (quantilesExact(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
 p[2] AS p95_seconds,
 sum(t.cost_usd) AS cost_usd
FROM turn_summary AS t
WHERE (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY stop_reason
ORDER BY
 stop_reason = 'running' ASC,
 turns DESC,
 stop_reason ASC
LIMIT {limit:UInt32};
