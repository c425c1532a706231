WITH
 calls AS
 (
  SELECT *
  FROM llm_call
  WHERE (cost_usd IS NOT NULL) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
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
WHERE start_time IN (
 SELECT start_time
 FROM calls
 ORDER BY
  cost_usd DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 c.cost_usd DESC,
 time DESC,
 span ASC
LIMIT {limit:UInt32};
