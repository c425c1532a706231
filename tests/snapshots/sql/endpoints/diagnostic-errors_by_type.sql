WITH
 failures AS
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
   error_type,
   error_message,
   start_time,
   span_id
  FROM llm_call
  WHERE (error_type != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  UNION ALL
  SELECT
   'tool' AS source,
   name,
   if(error_type != '', error_type, 'failed result') AS error_type,
   error_message,
   start_time,
   span_id
  FROM tool_call
  WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  UNION ALL
  SELECT
   'turn' AS source,
   agent_name AS name,
   error_type,
   error_message,
   start_time,
   span_id
  FROM turn_summary
  WHERE (error_type != '') AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 source,
 name,
 error,
 times,
 first_time,
 last_time,
 span_id AS last_span,
 leftUTF8(error_message, 240) AS last_message
FROM failures
ANY RIGHT JOIN
(
 SELECT
  any(source) AS found_in,
  any(name) AS of_name,
  any(error_type) AS error,
  count() AS times,
  min(start_time) AS first_time,
  max(start_time) AS last_time
 FROM failures
 GROUP BY cityHash64(source, name, error_type)
 ORDER BY
  times DESC,
  found_in ASC,
  of_name ASC,
  error ASC
 LIMIT {limit:UInt32}
) AS kinds ON (source = found_in) AND (name = of_name) AND (error_type = error) AND (start_time = last_time)
ORDER BY
 times DESC,
 source ASC,
 name ASC,
 error ASC;
