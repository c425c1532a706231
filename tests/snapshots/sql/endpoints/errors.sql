WITH
 (
  SELECT groupArray((of, request, answer, newest, times))
  FROM
  (
   SELECT
    toString(any(project)) AS of,
    toString(any(request_model)) AS request,
    toString(any(response_model)) AS answer,
    max(start_time) AS newest,
    countIf((({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))) AS times
   FROM llm_call
   WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= ({since:DateTime64(9, 'UTC')} - toIntervalDay(30)))) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
   GROUP BY ((cityHash64(project) + (3 * cityHash64(request_model))) + (5 * cityHash64(response_model))) + toUInt16(toDate(start_time))
  )
 ) AS used,
 (
  SELECT groupArray(shape_of)
  FROM
  (
   SELECT (f.source, f.name, f.error, f.shape, times, turns, first, last, c.calls, (reinterpretAsUInt64(toFloat64(times)), f.source, f.name, f.error, f.shape)) AS shape_of
   FROM
   (
    SELECT
     source,
     name,
     error,
     shape,
     count() AS times,
     uniqExactIf(failure_turn, failure_turn != 0) AS turns,
     toUnixTimestamp64Nano(min(start_time)) AS first,
     toUnixTimestamp64Nano(max(start_time)) AS last
    FROM
    (
     SELECT
      'model call' AS source,
      if(response_model != '', toString(response_model), transform(concat(project, '\n', toString(request_model), '\n', toString(toDate(start_time))), ((
       SELECT (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
       FROM
       (
        SELECT
         concat(one.1, '\n', one.2, '\n', if(by_day, toString(toDate(one.4)), '')) AS asked,
         argMaxIf(one.3, one.4, (one.3) != '') AS answered
        FROM
        (
         SELECT arrayJoin(used) AS one
        )
        ARRAY JOIN [true, false] AS by_day
        GROUP BY asked
        HAVING (countIf((one.3) = '') > 0) AND (answered != '')
       )
      ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS name,
      toString(error_type) AS error,
      failure_shape AS shape,
      leftUTF8(error_message, 400) AS message,
      failure_turn,
      project,
      session_id,
      turn_id,
      span_id,
      start_time
     FROM llm_call
     WHERE (error_type != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')})) AND true
     UNION ALL
     SELECT
      'tool',
      toString(name),
      toString(if(t.error_type != '', t.error_type, 'failed result')),
      failure_shape,
      failure,
      failure_turn,
      project,
      session_id,
      turn_id,
      span_id,
      start_time
     FROM tool_call AS t
     WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')})) AND true
     UNION ALL
     SELECT
      'turn',
      toString(agent_name),
      toString(t.error_type),
      failure_shape,
      leftUTF8(t.error_message, 400),
      cityHash64(project, turn_id),
      project,
      session_id,
      turn_id,
      span_id,
      start_time
     FROM turn_summary AS t
     WHERE (t.error_type != '') AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')})) AND true
    )
    GROUP BY
     source,
     name,
     error,
     shape
   ) AS f
   LEFT JOIN
   (
    SELECT
     'tool' AS source,
     toString(name) AS name,
     count() AS calls
    FROM tool_call
    WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
    GROUP BY name
    UNION ALL
    SELECT
     'model call',
     model,
     sum(times)
    FROM
    (
     SELECT
      if(response_model != '', toString(response_model), transform(concat(project, '\n', toString(request_model), '\n', toString(toDate(start_time))), ((
       SELECT (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
       FROM
       (
        SELECT
         concat(one.1, '\n', one.2, '\n', if(by_day, toString(toDate(one.4)), '')) AS asked,
         argMaxIf(one.3, one.4, (one.3) != '') AS answered
        FROM
        (
         SELECT arrayJoin(used) AS one
        )
        ARRAY JOIN [true, false] AS by_day
        GROUP BY asked
        HAVING (countIf((one.3) = '') > 0) AND (answered != '')
       )
      ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS model,
      times
     FROM
     (
      SELECT
       one.1 AS project,
       one.2 AS request_model,
       one.3 AS response_model,
       one.4 AS start_time,
       one.5 AS times
      FROM
      (
       SELECT arrayJoin(used) AS one
      )
     )
    )
    GROUP BY model
   ) AS c ON (c.source = f.source) AND (c.name = f.name)
   WHERE true
   ORDER BY
    toFloat64(times) DESC NULLS LAST,
    f.source ASC,
    f.name ASC,
    f.error ASC,
    f.shape ASC
   LIMIT {limit:UInt32}
  )
 ) AS page
SELECT
 one.1 AS source,
 one.2 AS name,
 one.3 AS error,
 one.4 AS shape,
 one.5 AS times,
 one.6 AS turns,
 one.7 AS first,
 one.8 AS last,
 nullIf(one.9, 0) AS calls_of,
 one.10 AS place,
 n.newest AS newest
FROM
(
 SELECT
  arrayJoin(arrayZip(page, arrayEnumerate(page))) AS row,
  row.1 AS one,
  row.2 AS at
) AS p
INNER JOIN
(
 SELECT
  source,
  name,
  error,
  shape,
  argMax((project, session_id, turn_id, span_id, message), start_time) AS newest
 FROM
 (
  SELECT
   'model call' AS source,
   if(response_model != '', toString(response_model), transform(concat(project, '\n', toString(request_model), '\n', toString(toDate(start_time))), ((
    SELECT (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
    FROM
    (
     SELECT
      concat(one.1, '\n', one.2, '\n', if(by_day, toString(toDate(one.4)), '')) AS asked,
      argMaxIf(one.3, one.4, (one.3) != '') AS answered
     FROM
     (
      SELECT arrayJoin(used) AS one
     )
     ARRAY JOIN [true, false] AS by_day
     GROUP BY asked
     HAVING (countIf((one.3) = '') > 0) AND (answered != '')
    )
   ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS name,
   toString(error_type) AS error,
   failure_shape AS shape,
   leftUTF8(error_message, 400) AS message,
   failure_turn,
   project,
   session_id,
   turn_id,
   span_id,
   start_time
  FROM llm_call
  WHERE (error_type != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')})) AND (start_time IN (
   SELECT fromUnixTimestamp64Nano((arrayJoin(page)).8, 'UTC')
  ))
  UNION ALL
  SELECT
   'tool',
   toString(name),
   toString(if(t.error_type != '', t.error_type, 'failed result')),
   failure_shape,
   failure,
   failure_turn,
   project,
   session_id,
   turn_id,
   span_id,
   start_time
  FROM tool_call AS t
  WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')})) AND (start_time IN (
   SELECT fromUnixTimestamp64Nano((arrayJoin(page)).8, 'UTC')
  ))
  UNION ALL
  SELECT
   'turn',
   toString(agent_name),
   toString(t.error_type),
   failure_shape,
   leftUTF8(t.error_message, 400),
   cityHash64(project, turn_id),
   project,
   session_id,
   turn_id,
   span_id,
   start_time
  FROM turn_summary AS t
  WHERE (t.error_type != '') AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')})) AND (start_time IN (
   SELECT fromUnixTimestamp64Nano((arrayJoin(page)).8, 'UTC')
  ))
 )
 GROUP BY
  source,
  name,
  error,
  shape
) AS n ON (n.source = (one.1)) AND (n.name = (one.2)) AND (n.error = (one.3)) AND (n.shape = (one.4))
ORDER BY at ASC;
