SELECT
 max(newest),
 sum(rows)
FROM
(
 SELECT
  toUnixTimestamp64Nano(max(written_at)) AS newest,
  count() AS rows
 FROM turn_summary
 WHERE (project = {project:String}) AND (session_id = {session:String})
 UNION ALL
 SELECT
  toUnixTimestamp64Nano(max(written_at)),
  count()
 FROM llm_call
 WHERE (project = {project:String}) AND (session_id = {session:String})
 UNION ALL
 SELECT
  toUnixTimestamp64Nano(max(written_at)),
  count()
 FROM tool_call
 WHERE (project = {project:String}) AND (session_id = {session:String})
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
 parent_turn_id,
 trace_id,
 span_id,
 start_time,
 duration,
 status,
 agent_name,
 agent_version,
 stop_reason,
 stop_detail,
 rounds,
 max_rounds,
 llm_call_count,
 tool_call_count,
 tool_error_count,
 turn_intent,
 input_tokens,
 output_tokens,
 cost_usd,
 models,
 error_type,
 error_message,
 leftUTF8(user_message, 301) AS user_message,
 leftUTF8(response_text, 301) AS response_text,
 length(turn_summary.user_message) AS asked_bytes,
 length(turn_summary.response_text) AS answered_bytes,
 max_identical_tool_streak
FROM turn_summary
WHERE (project = {project:String}) AND (session_id = {session:String})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 turn_id,
 trace_id,
 span_id,
 start_time,
 duration,
 time_to_first_chunk,
 round,
 provider,
 operation,
 tries,
 finish_reasons,
 input_tokens,
 output_tokens,
 cache_read_tokens,
 reasoning_tokens,
 cost_usd,
 error_type,
 error_message,
 agent_name,
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
 length(input_messages) AS sent_count,
 lower(hex(tool_definitions)) AS tools_hash,
 toUInt32(if(other = 0, toInt64(length(input_messages)), toInt64(other) - 1)) AS repeated,
 arrayMap(h -> lower(hex(h)), arraySlice(input_messages, repeated + 1)) AS input_hashes,
 arrayMap(h -> lower(hex(h)), output_messages) AS output_hashes,
 lower(hex(system_prompt)) AS system_hash
FROM
(
 SELECT
  *,
  if(startsWith(input_messages, before), length(before) + 1, arrayFirstIndex((old, new) -> (old != new), arrayResize(before, length(input_messages)), input_messages)) AS other
 FROM
 (
  SELECT
   *,
   lagInFrame(input_messages) OVER (PARTITION BY agent_name ORDER BY start_time ASC, span_id ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
  FROM llm_call
  WHERE (project = {project:String}) AND (session_id = {session:String})
 )
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
 sipHash64(translate(answered, ' \n\t', '')) AS answered_digest
FROM tool_call
WHERE (project = {project:String}) AND (session_id = {session:String})
ORDER BY
 start_time ASC,
 span_id ASC;

WITH
 JSONExtract(parts, 'Array(Tuple(type String, id String, name String, content String,\n        arguments String, response String))') AS found,
 arrayStringConcat(arrayMap(p -> p.content, arrayFilter(p -> (p.type = 'text'), found)), '\n\n') AS said,
 arrayMap(p -> (p.id, p.name), arrayFilter(p -> (p.type = 'tool_call'), found)) AS asked,
 arrayMap(p -> JSONExtract(if(startsWith(p.response, '[{'), p.response, ''), 'Array(Tuple(type String, text String))'), found) AS blocks,
 arrayMap((p, of) -> if((NOT empty(of)) AND arrayAll(block -> ((block.1) = 'text'), of), arrayStringConcat(of.2, '\n'), p.response), found, blocks) AS responses
SELECT
 lower(hex(hash)) AS id,
 role,
 name,
 length(parts) AS size,
 dialect,
 if(role = 'assistant', concat('gist ', hex(sipHash128(trimBoth(said), asked))), lower(hex(hash))) AS gist,
 if(empty(found) AND (parts != '') AND (parts != '[]'), [('text', '', '', leftUTF8(parts, 301), '', '', toUInt64(0))], arrayMap((p, answer) -> (p.type, p.id, p.name, leftUTF8(p.content, 301), leftUTF8(p.arguments, 301), leftUTF8(answer, 301), if(p.type = 'tool_call_response', sipHash64(translate(answer, ' \n\t', '')), 0)), found, responses)) AS heads
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String});
