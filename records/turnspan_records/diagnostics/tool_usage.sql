-- title: Tool usage
-- question: Which tools are used, how often, by how many turns, and how long do they take?
-- remedy: An unused tool costs tokens in every request; a slow tool that is used often takes most of a turn's time (busy_seconds).
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
WHERE {chosen:start_time}
GROUP BY tool
ORDER BY calls DESC, tool
LIMIT {limit:UInt32}
