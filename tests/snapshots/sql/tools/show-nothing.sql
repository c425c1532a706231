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
LIMIT 20;

SELECT DISTINCT
 'session' AS kind,
 session_id AS id,
 project,
 session_id,
 '',
 ''
FROM llm_call_running
WHERE session_id LIKE {id:String}
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
FROM llm_call_running
WHERE span_id LIKE {id:String}
LIMIT 20;

SELECT
 (
  SELECT count()
  FROM turn_summary
 ) AS turns,
 (
  SELECT count()
  FROM llm_call
 ) AS calls,
 (
  SELECT count()
  FROM span
 ) AS spans,
 (
  SELECT count()
  FROM annotation
 ) AS annotations;

SELECT
 count() AS found,
 countIf(within) AS inside,
 max(start_time) AS newest,
 countIf(within AND (session_id != '')) AS with_session,
 countIf(within AND is_turn) AS turns
FROM
(
 SELECT
  start_time,
  session_id,
  is_turn,
  (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AS within
 FROM
 (
  SELECT
   start_time,
   session_id,
   project,
   true AS is_turn
  FROM turn_summary
  UNION ALL
  SELECT
   start_time,
   session_id,
   project,
   false
  FROM llm_call
 )
 WHERE ({project:String} = '') OR (project = {project:String})
);
