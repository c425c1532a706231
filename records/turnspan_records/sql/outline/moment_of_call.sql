-- When the call after the first so many began, and how many of the session have not ended; no row where
-- there are no more.
SELECT toString(start_time) AS time,
    (SELECT count() FROM llm_call_running WHERE {where} AND status != 'final') AS unended
FROM llm_call
WHERE {where} ORDER BY start_time, span_id LIMIT 1 OFFSET {calls:UInt32}
