SELECT
 name AS tool,
 count() AS calls,
 uniqCombined(turn_hash) AS turns,
 uniqCombined(session_hash) AS sessions,
 round(calls / turns, 1) AS calls_per_turn,
 countIf(failed) / calls AS failure_rate,
 (quantiles(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
 p[2] AS p95_seconds,
 sum(duration) AS busy_seconds
FROM tool_call
WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY tool
ORDER BY
 calls DESC,
 tool ASC
LIMIT {limit:UInt32};
