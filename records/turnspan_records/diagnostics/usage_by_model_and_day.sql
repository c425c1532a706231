-- title: Tokens and cost by model and day
-- question: How many tokens does each model use a day, what do they cost, and how fast do they come?
-- remedy: Calls without a price have cost NULL and are counted in `unpriced`: a new or private model without a known price.
SELECT
    toDate(start_time) AS day,
    {model} AS model,
    count() AS calls,
    countIf(error_type != '') AS errors,
    sum(c.input_tokens) AS input_tokens,
    sum(c.cache_read_tokens) AS cached_tokens,
    sum(c.output_tokens) AS output_tokens,
    sum(c.reasoning_tokens) AS reasoning_tokens,
    sum(c.cost_usd) AS cost_usd,
    countIf(c.cost_usd IS NULL) AS unpriced,
    (quantilesTDigest(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
    p[2] AS p95_seconds
FROM llm_call AS c
WHERE {chosen:start_time}
GROUP BY day, model
ORDER BY day DESC, calls DESC, model
LIMIT {limit:UInt32}
