SELECT toString(toUnixTimestamp64Nano(min(applied_at)))
FROM turnspan.schema_migration;

SET final = '1';

SET do_not_merge_across_partitions_select_final = '1';

SET optimize_move_to_prewhere_if_final = '1';

SET enable_join_runtime_filters_index_analysis = '1';

SET text_index_like_min_pattern_length = '3';

SET cancel_http_readonly_queries_on_client_close = '1';

SET max_execution_time = '300';

SET http_max_tries = '1';

SET log_comment = '<drawn>';

SET readonly = '1';

SELECT formatQuerySingleLine({sql:String});

EXPLAIN AST
SELECT
 project,
 session_id,
 if(session_id = '', trace_id, '') AS trace,
 argMin(attributes, start_time) AS facts
FROM turn_summary AS t
WHERE ((project, session_id, if(session_id = '', trace_id, '')) > ({after_project:String}, {after_session:String}, {after_trace:String})) AND (({project:String} = '') OR (project = {project:String})) AND (({session:String} = '') OR (session_id = {session:String}) OR (trace_id = {session:String})) AND (empty({agents:Array(String)}) OR (agent_name IN ({agents:Array(String)}))) AND (empty({versions:Array(String)}) OR (agent_version IN ({versions:Array(String)}))) AND (empty({models:Array(String)}) OR hasAny(models, {models:Array(String)})) AND (empty({stop_reasons:Array(String)}) OR (stop_reason IN ({stop_reasons:Array(String)})) OR (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({stop_reasons:Array(String)}))) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (rounds > 0)
GROUP BY
 project,
 session_id,
 trace
ORDER BY
 project ASC,
 session_id ASC,
 trace ASC
LIMIT {page:UInt32};

SELECT
 project,
 session_id,
 if(session_id = '', trace_id, '') AS trace,
 argMin(attributes, start_time) AS facts
FROM turn_summary AS t
WHERE ((project, session_id, if(session_id = '', trace_id, '')) > ({after_project:String}, {after_session:String}, {after_trace:String})) AND (({project:String} = '') OR (project = {project:String})) AND (({session:String} = '') OR (session_id = {session:String}) OR (trace_id = {session:String})) AND (empty({agents:Array(String)}) OR (agent_name IN ({agents:Array(String)}))) AND (empty({versions:Array(String)}) OR (agent_version IN ({versions:Array(String)}))) AND (empty({models:Array(String)}) OR hasAny(models, {models:Array(String)})) AND (empty({stop_reasons:Array(String)}) OR (stop_reason IN ({stop_reasons:Array(String)})) OR (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({stop_reasons:Array(String)}))) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (rounds > 0)
GROUP BY
 project,
 session_id,
 trace
ORDER BY
 project ASC,
 session_id ASC,
 trace ASC
LIMIT {page:UInt32};

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
 user_message,
 response_text,
 stop_reason,
 stop_detail,
 rounds,
 max_rounds,
 llm_call_count,
 tool_call_count,
 tool_error_count,
 turn_intent,
 models
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
 response_text,
 response_thoughts,
 tool_calls,
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
 response_text,
 response_thoughts,
 tool_calls,
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
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND (status != 'final') AND (span_id GLOBAL NOT IN (
  SELECT span_id
  FROM llm_call
  WHERE (project = {project:String}) AND (session_id = {session:String})
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
 arguments,
 result,
 failed,
 error_type,
 error_message
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
