SELECT
 tool,
 failures,
 calls,
 failures / calls AS failure_rate,
 said_failures,
 turns,
 usual_error,
 leftUTF8(error_message, 240) AS last_error,
 last_time,
 span_id AS last_span
FROM
(
 SELECT
  name,
  start_time,
  if(failed, t.error_message, result) AS error_message,
  span_id
 FROM tool_call AS t
 WHERE (failed OR match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b')) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
) AS failed_call
ANY RIGHT JOIN
(
 SELECT
  name AS tool,
  countIf(failed) AS failures,
  countIf((NOT failed) AND match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b')) AS said_failures,
  count() AS calls,
  uniqCombinedIf(turn_hash, failed) AS turns,
  topKIf(1)(error_type, failed AND (error_type != ''))[1] AS usual_error,
  if(failures > 0, maxIf(start_time, failed), maxIf(start_time, match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b'))) AS last_time
 FROM tool_call
 WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY tool
 HAVING (failures + said_failures) > 0
 ORDER BY
  failures DESC,
  said_failures DESC,
  tool ASC
 LIMIT {limit:UInt32}
) AS failing ON (failed_call.name = failing.tool) AND (failed_call.start_time = failing.last_time)
ORDER BY
 failures DESC,
 said_failures DESC,
 tool ASC;
