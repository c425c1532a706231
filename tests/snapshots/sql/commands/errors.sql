WITH
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
     uniqExactIf(cityHash64(project, turn_id), turn_id != '') AS turns,
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
      ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS name,
      toString(error_type) AS error,
      failure_shape AS shape,
      leftUTF8(error_message, 400) AS message,
      project,
      session_id,
      turn_id,
      span_id,
      start_time
     FROM llm_call
     WHERE (error_type != '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND true
     UNION ALL
     SELECT
      'tool',
      toString(name),
      toString(if(t.error_type != '', t.error_type, 'failed result')),
      failure_shape,
      failure,
      project,
      session_id,
      turn_id,
      span_id,
      start_time
     FROM tool_call AS t
     WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND true
     UNION ALL
     SELECT
      'turn',
      toString(agent_name),
      toString(t.error_type),
      failure_shape,
      leftUTF8(t.error_message, 400),
      project,
      session_id,
      turn_id,
      span_id,
      start_time
     FROM turn_summary AS t
     WHERE (t.error_type != '') AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND true
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
    WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
    GROUP BY name
    UNION ALL
    SELECT
     'model call',
     model,
     sum(times)
    FROM
    (
     SELECT
      toString(response_model) AS model,
      count() AS times
     FROM llm_call
     WHERE (response_model != '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
     GROUP BY response_model
     UNION ALL
     SELECT
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
      ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))),
      times
     FROM
     (
      SELECT
       project,
       request_model,
       '' AS response_model,
       toDateTime(day, 'UTC') AS start_time,
       times
      FROM
      (
       SELECT
        project,
        request_model,
        toDate(start_time) AS day,
        count() AS times
       FROM llm_call
       WHERE (response_model = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
       GROUP BY
        project,
        request_model,
        day
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
   ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS name,
   toString(error_type) AS error,
   failure_shape AS shape,
   leftUTF8(error_message, 400) AS message,
   project,
   session_id,
   turn_id,
   span_id,
   start_time
  FROM llm_call
  WHERE (error_type != '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (start_time IN (
   SELECT fromUnixTimestamp64Nano((arrayJoin(page)).8, 'UTC')
  ))
  UNION ALL
  SELECT
   'tool',
   toString(name),
   toString(if(t.error_type != '', t.error_type, 'failed result')),
   failure_shape,
   failure,
   project,
   session_id,
   turn_id,
   span_id,
   start_time
  FROM tool_call AS t
  WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (start_time IN (
   SELECT fromUnixTimestamp64Nano((arrayJoin(page)).8, 'UTC')
  ))
  UNION ALL
  SELECT
   'turn',
   toString(agent_name),
   toString(t.error_type),
   failure_shape,
   leftUTF8(t.error_message, 400),
   project,
   session_id,
   turn_id,
   span_id,
   start_time
  FROM turn_summary AS t
  WHERE (t.error_type != '') AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (start_time IN (
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
