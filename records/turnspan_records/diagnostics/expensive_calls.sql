-- title: Expensive model calls
-- question: Which single model calls cost most?
-- remedy: For many input tokens with few cached ones, use prompt caching or a shorter context; for many reasoning tokens, a lower reasoning level.
WITH calls AS
    (
        SELECT * FROM llm_call
        WHERE cost_usd IS NOT NULL
            AND {chosen:start_time}
    )
SELECT
    start_time AS time,
    project,
    if(response_model != '', response_model, request_model) AS model,
    c.cost_usd AS cost_usd,
    input_tokens,
    cache_read_tokens AS cached_tokens,
    output_tokens,
    reasoning_tokens,
    round,
    session_id AS session,
    span_id AS span
FROM calls AS c
-- First when they began, with what it takes to order them; the rest is read for those few only.
WHERE start_time IN
    (SELECT start_time FROM calls ORDER BY cost_usd DESC, start_time DESC LIMIT {limit:UInt32})
ORDER BY c.cost_usd DESC, time DESC, span
LIMIT {limit:UInt32}
