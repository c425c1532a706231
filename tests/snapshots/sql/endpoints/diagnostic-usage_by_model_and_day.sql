SELECT
 toDate(start_time) AS day,
 if(response_model != '', toString(response_model), transform(concat(project, '\n', toString(request_model), '\n', toString(toDate(start_time))), ((
  SELECT (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
  FROM
  (
   SELECT
    concat(of, '\n', toString(request), '\n', if(by_day, toString(toDate(newest)), '')) AS asked,
    argMaxIf(toString(answer), newest, answer != '') AS answered
   FROM
   (
    SELECT
     any(project) AS of,
     any(request_model) AS request,
     any(response_model) AS answer,
     max(start_time) AS newest
    FROM llm_call
    WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= ({since:DateTime64(9, 'UTC')} - toIntervalDay(30))) AND (start_time < {until:DateTime64(9, 'UTC')})
    GROUP BY ((cityHash64(project) + (3 * cityHash64(request_model))) + (5 * cityHash64(response_model))) + toUInt16(toDate(start_time))
   )
   ARRAY JOIN [true, false] AS by_day
   GROUP BY asked
   HAVING (countIf(answer = '') > 0) AND (answered != '')
  )
 ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS model,
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
WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY
 day,
 model
ORDER BY
 day DESC,
 calls DESC,
 model ASC
LIMIT {limit:UInt32};
