SELECT
 project,
 call.1,
 call.2,
 call.3
FROM
(
 SELECT
  project,
  turn_id,
  min(began) AS first,
  argMin((session_id, span, state), began) AS call
 FROM
 (
  SELECT
   project,
   session_id,
   turn_id,
   span_id AS span,
   min(start_time) AS began,
   argMax(status, written_at) AS state
  FROM llm_call_running
  WHERE (turn_id != '') AND (({project:String} = '') OR (project = {project:String})) AND ((project, session_id, span_id) IN (
   SELECT
    project,
    session_id,
    span_id
   FROM llm_call_running
   WHERE status != 'final'
  )) AND ((project, turn_id) NOT IN (
   SELECT
    project,
    turn_id
   FROM turn_summary
   WHERE turn_id IN (
    SELECT turn_id
    FROM llm_call_running
    WHERE status != 'final'
   )
  ))
  GROUP BY
   project,
   session_id,
   turn_id,
   span_id
  HAVING state != 'final'
 )
 GROUP BY
  project,
  turn_id
)
ORDER BY first DESC
LIMIT 1000;

SELECT
 name,
 value,
 turns
FROM
(
 SELECT
  facet.1 AS name,
  facet.2 AS value,
  count() AS turns
 FROM turn_summary AS t
 ARRAY JOIN arrayConcat([(concat('attribute.', {key0:String}), attributes[{key0:String}])]) AS facet
 WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (agent_name IN ({f0:Array(String)})) AND ((facet.2) != '')
 GROUP BY
  name,
  value
)
WHERE (value != '') AND (positionCaseInsensitiveUTF8(value, {text:String}) > 0)
ORDER BY
 turns DESC,
 name ASC,
 value ASC
LIMIT {values:UInt32} BY name;

SELECT
 name,
 value,
 turns
FROM
(
 SELECT
  facet.1 AS name,
  facet.2 AS value,
  count() AS turns
 FROM turn_summary AS t
 ARRAY JOIN arrayConcat([('agent', toString(agent_name))]) AS facet
 WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND ((facet.2) != '')
 GROUP BY
  name,
  value
)
WHERE (value != '') AND (positionCaseInsensitiveUTF8(value, {text:String}) > 0)
ORDER BY
 turns DESC,
 name ASC,
 value ASC
LIMIT {values:UInt32} BY name;
