SELECT
 project,
 session_id,
 trace_id,
 turn_id
FROM turn_summary
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM attempt
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM rollout
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM consortium
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM llm_call_running
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT
 position,
 source_rows
FROM import_position
WHERE (project = {project:String}) AND (kind = {kind:String}) AND (source = {source:String});

WITH
 alike AS
 (
  SELECT DISTINCT session_id
  FROM llm_call
  WHERE (span_id IN ({firsts:Array(String)})) AND (session_id != '')
 )
SELECT
 session_id,
 row,
 time,
 parent
FROM
(
 SELECT
  session_id,
  span_id AS row,
  '' AS parent,
  toUnixTimestamp64Nano(start_time) + toInt64(round(duration * 1000000000.)) AS time
 FROM llm_call
 WHERE session_id IN (alike)
 UNION ALL
 SELECT
  session_id,
  turn_id,
  attributes['turnspan.coding.forked_from'],
  toUnixTimestamp64Nano(start_time)
 FROM turn_summary
 WHERE session_id IN (alike)
)
ORDER BY
 session_id ASC,
 time ASC,
 parent ASC,
 row ASC;

SELECT count()
FROM tombstone;

INSERT INTO turnspan.llm_call FORMAT Native;

INSERT INTO turnspan.turn_summary FORMAT Native;

INSERT INTO turnspan.tool_call FORMAT Native;

INSERT INTO turnspan.message FORMAT Native;

INSERT INTO turnspan.span FORMAT Native;

INSERT INTO turnspan.import_position FORMAT Native;

SELECT DISTINCT session_id
FROM span
WHERE (scope_name IN ({scopes:Array(String)})) AND (session_id != '') AND mapContains(attributes, {mark:String}) AND ((toUnixTimestamp64Nano(written_at) > {since:Int64}) OR (session_id IN (
 SELECT session_id
 FROM llm_call
 WHERE (toUnixTimestamp64Nano(written_at) > {since:Int64}) AND startsWith(scope_name, 'turnspan.import.')
)));
