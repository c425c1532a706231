SELECT
 toUnixTimestamp64Nano(min(first)),
 toUnixTimestamp64Nano(max(last)),
 sum(rows)
FROM
(
 SELECT
  min(start_time) AS first,
  max(start_time) AS last,
  count() AS rows
 FROM turn_summary
 WHERE (({project:String} = '') OR (project = {project:String}))
 UNION ALL
 SELECT
  min(start_time),
  max(start_time),
  count()
 FROM tool_call
 WHERE (({project:String} = '') OR (project = {project:String}))
 UNION ALL
 SELECT
  min(start_time),
  max(start_time),
  count()
 FROM llm_call
 WHERE (({project:String} = '') OR (project = {project:String}))
)
WHERE rows > 0;

SELECT
 kind,
 project,
 session_id,
 turn_id,
 span_id,
 message,
 nanoseconds,
 substringUTF8(found, greatest(1, toInt64(at) - 60), 300) AS cut
FROM
(
 SELECT
  project,
  scope AS session_id,
  '' AS turn_id,
  '' AS span_id,
  lower(hex(hash)) AS message,
  toUnixTimestamp64Nano(first_seen) AS nanoseconds,
  concat(role, ' message') AS kind,
  parts AS found,
  lowerUTF8(parts) AS words,
  positionCaseInsensitiveUTF8(found, {written:String}) AS at
 FROM message
 WHERE (({project:String} = '') OR (project = {project:String})) AND (first_seen >= {from:DateTime64(9, 'UTC')}) AND (first_seen < {to:DateTime64(9, 'UTC')}) AND (at > 0) AND (words LIKE lowerUTF8({written_0:String}))
 ORDER BY
  first_seen DESC,
  hash ASC
 LIMIT 1 BY hash
 LIMIT {limit:UInt32}
);

SELECT
 kind,
 project,
 session_id,
 turn_id,
 span_id,
 message,
 nanoseconds,
 substringUTF8(found, greatest(1, toInt64(at) - 60), 300) AS cut
FROM
(
 SELECT
  project,
  if(t.session_id = '', t.trace_id, t.session_id) AS session_id,
  turn_id,
  span_id,
  '' AS message,
  toUnixTimestamp64Nano(start_time) AS nanoseconds,
  [('user message', user_message), ('reply', response_text), ('why it stopped', concat(t.stop_reason, ' ', t.stop_detail)), ('error', concat(t.error_type, ' ', t.error_message))] AS texts,
  arrayFirst(one -> (positionCaseInsensitiveUTF8(one.2, {text:String}) > 0), texts) AS first,
  lowerUTF8(concat(t.user_message, ' ', t.response_text, ' ', t.stop_reason, ' ', t.stop_detail, ' ', t.error_type, ' ', t.error_message)) AS words,
  first.1 AS kind,
  first.2 AS found,
  positionCaseInsensitiveUTF8(found, {text:String}) AS at
 FROM turn_summary AS t
 WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= {from:DateTime64(9, 'UTC')}) AND (start_time < {to:DateTime64(9, 'UTC')}) AND (at > 0) AND (words LIKE lowerUTF8({word_0:String}))
 ORDER BY
  start_time DESC,
  span_id ASC
 LIMIT {limit:UInt32}
);

SELECT
 kind,
 project,
 session_id,
 turn_id,
 span_id,
 message,
 nanoseconds,
 substringUTF8(found, greatest(1, toInt64(at) - 60), 300) AS cut
FROM
(
 SELECT
  project,
  if(t.session_id = '', t.trace_id, t.session_id) AS session_id,
  turn_id,
  span_id,
  '' AS message,
  toUnixTimestamp64Nano(start_time) AS nanoseconds,
  [('tool', toString(name)), ('tool arguments', arguments), ('tool result', result), ('tool error', concat(t.error_type, ' ', t.error_message))] AS texts,
  arrayFirst(one -> (positionCaseInsensitiveUTF8(one.2, {text:String}) > 0), texts) AS first,
  lowerUTF8(concat(t.name, ' ', t.arguments, ' ', t.result, ' ', t.error_type, ' ', t.error_message)) AS words,
  first.1 AS kind,
  first.2 AS found,
  positionCaseInsensitiveUTF8(found, {text:String}) AS at
 FROM tool_call AS t
 WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= {from:DateTime64(9, 'UTC')}) AND (start_time < {to:DateTime64(9, 'UTC')}) AND (at > 0) AND (words LIKE lowerUTF8({word_0:String}))
 ORDER BY
  start_time DESC,
  span_id ASC
 LIMIT {limit:UInt32}
);

SELECT
 project,
 scope,
 argMax(session_id, start_time) AS session,
 argMax(trace_id, start_time) AS trace,
 toUnixTimestamp64Nano(max(start_time)) AS time,
 argMax(agent_name, start_time) AS agent,
 argMax(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status), start_time) AS ended,
 count() AS turns,
 leftUTF8(argMin(user_message, start_time), 240) AS said
FROM
(
 SELECT
  *,
  if(t.session_id = '', t.trace_id, t.session_id) AS scope
 FROM turn_summary AS t
 WHERE ((session_id IN ({scopes:Array(String)})) OR (trace_id IN ({scopes:Array(String)}))) AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String}))
) AS t
WHERE scope IN ({scopes:Array(String)})
GROUP BY
 project,
 scope;
