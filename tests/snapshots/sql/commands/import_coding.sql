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
