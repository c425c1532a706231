SELECT count(), sum(t.cost_usd), toUnixTimestamp(min(start_time)), toUnixTimestamp(max(start_time))
FROM {turns} AS t
WHERE {where}
