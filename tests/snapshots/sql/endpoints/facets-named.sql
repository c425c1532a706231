SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

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
