SELECT
 facet.1 AS name,
 facet.2 AS value,
 count() AS turns
FROM turn_summary AS t
ARRAY JOIN arrayConcat([('stop', if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status)), ('agent', toString(agent_name)), ('version', toString(agent_version)), ('error', toString(t.error_type))], arrayMap(model -> ('model', toString(model)), arrayDistinct(models))) AS facet
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND ((facet.2) != '')
GROUP BY
 name,
 value
ORDER BY
 turns DESC,
 name ASC,
 value ASC
LIMIT {values:UInt32} BY name;

SELECT
 name AS value,
 uniqExact(turn_id) AS turns,
 uniqExactIf(turn_id, failed) AS failing
FROM tool_call
WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (sipHash128(project, turn_id) IN (
 SELECT sipHash128(project, turn_id)
 FROM turn_summary AS t
 WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
))
GROUP BY value
ORDER BY
 turns DESC,
 value ASC;
