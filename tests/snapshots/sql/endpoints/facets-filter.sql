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
 ARRAY JOIN arrayConcat([('agent', toString(agent_name))], [('user', toString(user_id))], arrayMap(model -> ('model', toString(model)), arrayDistinct(models)), [('error', toString(t.error_type))], [('version', toString(agent_version))], [('service', toString(service))], [('environment', toString(environment))], [('project', toString(t.project))], [('cost', if(isNull(toFloat64(t.cost_usd)), '', ['..0.0001', '0.0001..0.001', '0.001..0.01', '0.01..0.1', '0.1..1', '1..10', '10..'][1 + arrayCount(edge -> (ifNull(toFloat64(t.cost_usd), 0) >= edge), [0.0001, 0.001, 0.01, 0.1, 1, 10])]))], [('seconds', if(isNull(if(t.status = 'running', NULL, t.duration)), '', ['..0.1', '0.1..1', '1..10', '10..60', '60..600', '600..3600', '3600..'][1 + arrayCount(edge -> (ifNull(if(t.status = 'running', NULL, t.duration), 0) >= edge), [0.1, 1, 10, 60, 600, 3600])]))]) AS facet
 WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64}) AND ((facet.2) != '')
 GROUP BY
  name,
  value
 UNION ALL
 SELECT
  facet.1 AS name,
  facet.2 AS value,
  facet.3 AS turns
 FROM
 (
  SELECT
   name AS of,
   uniqExact(turn_id) AS ran,
   uniqExactIf(turn_id, failed) AS failing
  FROM tool_call
  WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (sipHash128(project, turn_id) IN (
   SELECT sipHash128(project, turn_id)
   FROM turn_summary AS t
   WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64})
  ))
  GROUP BY of
 )
 ARRAY JOIN [('tool', toString(of), ran), ('failed', toString(of), failing)] AS facet
 WHERE ((facet.3) > 0) AND (name IN ({names:Array(String)}))
 UNION ALL
 SELECT
  'outcome' AS name,
  toString(outcome) AS value,
  uniqExact(project, subject_id) AS turns
 FROM annotation_current
 WHERE (subject_kind = 'turn') AND (kind = 'outcome') AND ((project, subject_id) IN (
  SELECT
   project,
   turn_id
  FROM turn_summary AS t
  WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64}) AND (turn_id IN (
   SELECT subject_id
   FROM annotation
   WHERE (subject_kind = 'turn') AND (kind = 'outcome')
  ))
 ))
 GROUP BY value
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
 ARRAY JOIN arrayConcat([('stop', toString(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status)))]) AS facet
 WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64}) AND ((facet.2) != '')
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
