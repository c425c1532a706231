-- title: Tokens and cost by model and day
-- question: How many tokens does each model use a day, what do they cost, and how fast do they come?
-- remedy: Calls without a price have cost NULL and are counted in `unpriced`: a new or private model whose price nobody knows yet.
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
WHERE ({project:String} = '' OR project = {project:String})
    AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR start_time >= {since:DateTime64(9, 'UTC')})
    AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00' OR start_time < {until:DateTime64(9, 'UTC')})
GROUP BY day, model
ORDER BY day DESC, calls DESC, model
LIMIT {limit:UInt32}
