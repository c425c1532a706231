SELECT
 max(newest),
 sum(rows)
FROM
(
 SELECT
  toUnixTimestamp64Nano(max(written_at)) AS newest,
  count() AS rows
 FROM turn_summary
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
 UNION ALL
 SELECT
  toUnixTimestamp64Nano(max(written_at)),
  count()
 FROM llm_call
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
 UNION ALL
 SELECT
  toUnixTimestamp64Nano(max(written_at)),
  count()
 FROM tool_call
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
 UNION ALL
 SELECT
  toUnixTimestamp64Nano(max(written_at)),
  count()
 FROM llm_call_running
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
 UNION ALL
 SELECT
  toUnixTimestamp64Nano(max(written_at)),
  count()
 FROM message
 WHERE (project = {project:String}) AND (scope = {scope:String})
);

SELECT
 session_id,
 turn_id,
 trace_id,
 span_id,
 start_time,
 duration,
 agent_name,
 agent_version,
 input_tokens,
 output_tokens,
 cost_usd,
 error_type,
 error_message,
 parent_turn_id,
 status,
 stop_reason,
 stop_detail,
 rounds,
 max_rounds,
 llm_call_count,
 tool_call_count,
 tool_error_count,
 turn_intent,
 models,
 leftUTF8(user_message, 301) AS user_message,
 leftUTF8(response_text, 301) AS response_text,
 length(turn_summary.user_message) AS asked_bytes,
 length(turn_summary.response_text) AS answered_bytes,
 max_identical_tool_streak
FROM turn_summary
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 turn_id,
 trace_id,
 span_id,
 start_time,
 duration,
 agent_name,
 input_tokens,
 output_tokens,
 cache_read_tokens,
 reasoning_tokens,
 cost_usd,
 error_type,
 error_message,
 time_to_first_chunk,
 round,
 provider,
 operation,
 tries,
 finish_reasons,
 parent_span_id,
 request_model,
 response_model,
 stream_outcome,
 leftUTF8(response_text, 301) AS response_text,
 leftUTF8(response_thoughts, 301) AS response_thoughts,
 if(tool_calls = '', '', toJSONString(arrayMap(c -> CAST((c.id, c.name, leftUTF8(c.arguments, 301)), 'Tuple(id String, name String, arguments String)'), JSONExtract(tool_calls, 'Array(Tuple(id String, name String, arguments String))')))) AS tool_calls,
 cache_write_tokens,
 tokens_estimated,
 consortium_id,
 length(sent.response_text) AS answered_bytes,
 lower(hex(tool_definitions)) AS tools_hash,
 sent_count,
 multiIf(((before.1) <= sent_count) AND ((sent_count - (before.1)) < length(sent_digests)) AND ((sent_digests[(toInt64(before.1) - toInt64(sent_count)) - 1]) = (before.2)), toUInt32(before.1), sent_count <= length(sent_last), 0, NULL) AS repeated,
 arrayMap(h -> lower(hex(h)), arraySlice(sent_last, ((length(sent_last) + 1) + ifNull(repeated, sent_count)) - sent_count)) AS input_hashes,
 arrayMap(h -> lower(hex(h)), output_messages) AS output_hashes,
 lower(hex(system_prompt)) AS system_hash
FROM
(
 SELECT
  *,
  sent_last,
  sent_digests,
  input_messages.size0 AS sent_count,
  lagInFrame((sent_count, sent_digests[-1])) OVER (PARTITION BY agent_name ORDER BY start_time ASC, span_id ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
 FROM llm_call
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
) AS sent
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 turn_id,
 trace_id,
 span_id,
 start_time,
 round,
 provider,
 operation,
 agent_name,
 dateDiff('millisecond', start_time, written_at) / 1000 AS stored,
 if(status = 'running', greatest(dateDiff('millisecond', start_time, now64(3)) / 1000, stored), stored) AS duration,
 parent_span_id,
 request_model,
 '' AS response_model,
 '' AS stream_outcome,
 status,
 leftUTF8(response_text, 1048576) AS response_text,
 leftUTF8(response_thoughts, 1048576) AS response_thoughts,
 if(tool_calls = '', '', toJSONString(arrayMap(c -> CAST((c.id, c.name, leftUTF8(c.arguments, 1048576)), 'Tuple(id String, name String, arguments String)'), JSONExtract(tool_calls, 'Array(Tuple(id String, name String, arguments String))')))) AS tool_calls,
 cache_write_tokens,
 tokens_estimated,
 consortium_id,
 length(sent.response_text) AS answered_bytes,
 lower(hex(tool_definitions)) AS tools_hash,
 toUInt32(0) AS repeated,
 length(input_messages) AS sent_count,
 arrayMap(h -> lower(hex(h)), input_messages) AS input_hashes,
 lower(hex(system_prompt)) AS system_hash
FROM
(
 SELECT
  *,
  NULL AS cache_write_tokens,
  false AS tokens_estimated,
  '' AS consortium_id
 FROM llm_call_running
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String}) AND (status != 'final') AND (span_id GLOBAL NOT IN (
  SELECT span_id
  FROM llm_call
  WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
 ))
) AS sent
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 round,
 name,
 call_id,
 failed,
 error_type,
 error_message,
 leftUTF8(arguments, 301) AS arguments,
 leftUTF8(result, 301) AS result,
 length(tool_call.arguments) AS asked_bytes,
 length(tool_call.result) AS answered_bytes,
 sipHash64(name, tool_call.arguments) AS asked_digest,
 if(tool_call.result = '', tool_call.error_message, tool_call.result) AS answered,
 hex(sipHash64(translate(answered, ' \n\t', ''))) AS answered_digest,
 attributes['turnspan.coding.decision'] AS decision,
 attributes['turnspan.coding.decision.source'] AS decided_by
FROM tool_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (trace_id = {trace:String})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 lower(hex(hash)) AS id,
 role,
 name,
 dialect,
 head
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String}) AND (empty({hashes:Array(String)}) OR (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
)));
