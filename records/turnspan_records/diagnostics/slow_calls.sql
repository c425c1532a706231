-- title: Slow model calls
-- question: Which model calls took longest, and was it the wait for the first token or the length of the reply?
-- remedy: A long first_chunk is the provider's queue or a long prompt (see context_growth); few output tokens a second is the model; many tries are rate limits.
WITH calls AS
    (
        SELECT * FROM llm_call
        WHERE {chosen:start_time}
    )
SELECT
    start_time AS time,
    project,
    if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds,
    time_to_first_chunk AS first_chunk_seconds,
    input_tokens,
    output_tokens,
    if(c.duration > 0, round(output_tokens / c.duration, 1), NULL) AS tokens_per_second,
    tries,
    error_type AS error,
    session_id AS session,
    span_id AS span
FROM calls AS c
-- First when they began, with what it takes to order them; the rest is read for those few only.
WHERE start_time IN
    (SELECT start_time FROM calls ORDER BY duration DESC, start_time DESC LIMIT {limit:UInt32})
ORDER BY duration_seconds DESC, time DESC, span
LIMIT {limit:UInt32}
