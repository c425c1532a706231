-- title: How turns end
-- question: Why do turns stop, how often, and what does each way of stopping cost?
-- remedy: Read the turns behind a bad reason with `turnspan diagnose early_stops` or `turnspan replay`; for round_cap raise the budget, for tool_failure see failing_tools.
SELECT
    if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status) AS stop_reason,
    count() AS turns,
    if(stop_reason = 'running', NULL, turns / greatest(sum(countIf(status != 'running')) OVER (), 1)) AS share,
    round(avg(rounds), 1) AS avg_rounds,
    round(avg(tool_call_count), 1) AS avg_tools,
    (quantilesExact(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
    p[2] AS p95_seconds,
    sum(t.cost_usd) AS cost_usd
FROM {turns} AS t
WHERE parent_turn_id = ''
    AND {chosen:start_time}
GROUP BY stop_reason
ORDER BY stop_reason = 'running', turns DESC, stop_reason
LIMIT {limit:UInt32}
