WITH
 calls AS
 (
  SELECT *
  FROM llm_call
  WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
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
WHERE start_time IN (
 SELECT start_time
 FROM calls
 ORDER BY
  duration DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 duration_seconds DESC,
 time DESC,
 span ASC
LIMIT {limit:UInt32};
