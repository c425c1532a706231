SELECT count()
FROM tombstone;

INSERT INTO turnspan.annotation FORMAT Native;

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
