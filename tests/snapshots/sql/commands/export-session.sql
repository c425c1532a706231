SELECT
 turn_id,
 trace_id,
 span_id,
 start_time,
 duration,
 scope_name,
 agent_name,
 input_tokens,
 output_tokens,
 cache_read_tokens,
 cache_write_tokens,
 reasoning_tokens,
 error_type,
 error_message,
 time_to_first_chunk,
 round,
 provider,
 operation,
 response_id,
 request_parameters,
 stream,
 tries,
 finish_reasons,
 parent_span_id,
 request_model,
 response_model,
 stream_outcome,
 lower(hex(tool_definitions)) AS tools_hash,
 attributes['turnspan.response.details'] AS details,
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
 WHERE (project = {project:String}) AND (session_id = {session:String})
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
 arguments,
 result,
 failed,
 error_type,
 error_message,
 mapContains(attributes, 'turnspan.truncated.result') AS cut,
 attributes['turnspan.tool.result_class'] AS result_class
FROM tool_call
WHERE (project = {project:String}) AND (session_id = {session:String})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 lower(hex(hash)) AS id,
 role,
 name,
 parts,
 source,
 dialect
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String});

SELECT
 lower(hex(hash)) AS id,
 body,
 source
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));
