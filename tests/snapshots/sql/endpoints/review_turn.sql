SELECT
 session_id,
 trace_id
FROM turn_summary
WHERE (project = {project:String}) AND (turn_id = {turn:String})
LIMIT 1;

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

SELECT *
FROM
(
 SELECT
  annotation_id AS id,
  subject_kind,
  subject_id,
  kind,
  outcome,
  training_flag,
  score,
  comment,
  directive,
  chosen_id,
  rejected_id,
  author,
  source,
  confidence,
  ranking_id,
  created_at,
  (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
 FROM annotation
 WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (subject_id = {id:String})
 UNION ALL
 SELECT
  annotation_id AS id,
  subject_kind,
  subject_id,
  kind,
  outcome,
  training_flag,
  score,
  comment,
  directive,
  chosen_id,
  rejected_id,
  author,
  source,
  confidence,
  ranking_id,
  created_at,
  (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
 FROM annotation
 WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (kind = 'preference') AND (rejected_id = {id:String})
)
ORDER BY
 created_at ASC,
 id ASC;

SELECT count()
FROM withdrawal;

SELECT
 kind,
 subject_id,
 annotation_id AS id,
 withdrawn_at,
 withdrawn_by,
 reason
FROM annotation_withdrawn
WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (subject_id IN ({ids:Array(String)}));

SELECT
 project,
 source,
 artifact_id,
 turn_id,
 target,
 decision,
 reason,
 revision,
 found_by,
 revised_at,
 later_revision,
 correction_id,
 similarity,
 decided_at,
 checked_at,
 toUnixTimestamp64Nano(decided_at) AS decided
FROM artifact_check
WHERE (project IN ({projects:Array(String)})) AND (turn_id IN ({turns:Array(String)}));
