-- When the call after the first so many began; no row where there are no more.
SELECT toString(start_time) AS time FROM llm_call
WHERE {where} ORDER BY start_time, span_id LIMIT 1 OFFSET {calls:UInt32}
