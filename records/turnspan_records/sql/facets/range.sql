SELECT count(), sum(t.cost_usd), toUnixTimestamp(min(start_time)), toUnixTimestamp(max(start_time))
FROM turn_summary AS t
WHERE {where}
