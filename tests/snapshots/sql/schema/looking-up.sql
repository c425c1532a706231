SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM turn_summary
WHERE session_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM llm_call
WHERE session_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM tool_call
WHERE session_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'turn' AS kind,
 turn_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM turn_summary
WHERE turn_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'trace' AS kind,
 trace_id AS id,
 project,
 '',
 trace_id,
 ''
FROM turn_summary
WHERE trace_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'trace' AS kind,
 trace_id AS id,
 project,
 '',
 trace_id,
 ''
FROM span
WHERE trace_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'call' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM llm_call
WHERE span_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'tool' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM tool_call
WHERE span_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'context' AS kind,
 assembly_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM context_assembly
WHERE assembly_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'attempt' AS kind,
 attempt_id AS id,
 project,
 '',
 '',
 ''
FROM attempt
WHERE attempt_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'rollout' AS kind,
 rollout_id AS id,
 project,
 '',
 '',
 ''
FROM rollout
WHERE rollout_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'lineage' AS kind,
 lineage_id AS id,
 project,
 '',
 '',
 ''
FROM lineage
WHERE lineage_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'artifact' AS kind,
 artifact_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM artifact
WHERE artifact_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'consortium' AS kind,
 consortium_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM consortium
WHERE consortium_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'consortium' AS kind,
 consortium_id AS id,
 project,
 '',
 '',
 ''
FROM llm_call
WHERE consortium_id = {id:String}
LIMIT 20;

SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM llm_call_running
WHERE session_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'trace' AS kind,
 trace_id AS id,
 project,
 '',
 trace_id,
 ''
FROM llm_call_running
WHERE trace_id = {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'call' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM llm_call_running
WHERE span_id = {id:String}
LIMIT 20;

SELECT DISTINCT
 'span' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM span
WHERE span_id = {id:String}
LIMIT 20;

SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM turn_summary
WHERE session_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM llm_call
WHERE session_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM tool_call
WHERE session_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'turn' AS kind,
 turn_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM turn_summary
WHERE turn_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'trace' AS kind,
 trace_id AS id,
 project,
 '',
 trace_id,
 ''
FROM turn_summary
WHERE trace_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'trace' AS kind,
 trace_id AS id,
 project,
 '',
 trace_id,
 ''
FROM span
WHERE trace_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'call' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM llm_call
WHERE span_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'tool' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM tool_call
WHERE span_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'context' AS kind,
 assembly_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM context_assembly
WHERE assembly_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'attempt' AS kind,
 attempt_id AS id,
 project,
 '',
 '',
 ''
FROM attempt
WHERE attempt_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'rollout' AS kind,
 rollout_id AS id,
 project,
 '',
 '',
 ''
FROM rollout
WHERE rollout_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'lineage' AS kind,
 lineage_id AS id,
 project,
 '',
 '',
 ''
FROM lineage
WHERE lineage_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'artifact' AS kind,
 artifact_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM artifact
WHERE artifact_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'consortium' AS kind,
 consortium_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM consortium
WHERE consortium_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'consortium' AS kind,
 consortium_id AS id,
 project,
 '',
 '',
 ''
FROM llm_call
WHERE consortium_id LIKE {id:String}
LIMIT 20
UNION ALL
SELECT DISTINCT
 'span' AS kind,
 span_id AS id,
 project,
 session_id,
 trace_id,
 turn_id
FROM span
WHERE span_id LIKE {id:String}
LIMIT 20;
