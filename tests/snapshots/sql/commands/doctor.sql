INSERT INTO turnspan.tombstone FORMAT Native;

SELECT
 project,
 written_at,
 kind,
 key,
 until,
 forgetting_id,
 asked,
 reason,
 author,
 created_at
FROM tombstone
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 scope_name,
 attributes,
 agent_name,
 agent_version,
 input_tokens,
 output_tokens,
 cache_read_tokens,
 cache_write_tokens,
 reasoning_tokens,
 cost_usd,
 error_type,
 error_message,
 lineage_id,
 rollout_id,
 attempt_id,
 time_to_first_chunk,
 round,
 provider,
 operation,
 request_model,
 response_model,
 response_id,
 request_parameters,
 stream,
 stream_outcome,
 tries,
 finish_reasons,
 tokens_estimated,
 price_version,
 input_messages,
 output_messages,
 system_prompt,
 tool_definitions,
 context_assembled,
 response_text,
 response_thoughts,
 tool_calls,
 consortium_id,
 consortium_role
FROM llm_call
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 scope_name,
 attributes,
 agent_name,
 agent_version,
 input_tokens,
 output_tokens,
 cache_read_tokens,
 cache_write_tokens,
 reasoning_tokens,
 cost_usd,
 error_type,
 error_message,
 lineage_id,
 rollout_id,
 attempt_id,
 user_id,
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
 silent_rounds,
 max_identical_tool_streak,
 no_progress_rounds,
 turn_intent,
 chat_mode,
 task_type,
 target,
 models
FROM turn_summary
WHERE 0;

SELECT
 project,
 written_at,
 subject_kind,
 subject_id,
 kind,
 annotation_id,
 outcome,
 training_flag,
 score,
 comment,
 chosen_id,
 rejected_id,
 directive,
 author,
 source,
 created_at,
 confidence,
 ranking_id
FROM annotation
WHERE 0;

SELECT
 project,
 written_at,
 subject_kind,
 subject_id,
 kind,
 withdrawal_id,
 annotation_id,
 author,
 source,
 comment,
 created_at
FROM withdrawal
WHERE 0;

SELECT
 project,
 written_at,
 name,
 definition,
 author
FROM review_queue
WHERE 0;

SELECT
 project,
 written_at,
 dataset,
 version,
 case_id,
 position,
 input,
 input_json,
 expected,
 expected_json,
 tags,
 session_id,
 turn_id,
 created_at
FROM dataset_case
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 target,
 artifact_id,
 kind,
 version,
 content,
 content_bytes,
 session_id,
 trace_id,
 turn_id,
 call_id,
 lineage_id,
 rollout_id,
 attempt_id,
 version_id,
 cycle,
 created_at
FROM artifact
WHERE 0;

SELECT
 project,
 written_at,
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
 checked_at
FROM artifact_check
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 lineage_id,
 evolution_id,
 from_version,
 to_version,
 trigger,
 hypothesis,
 plan,
 changes,
 author,
 created_at
FROM evolution
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 experiment_id,
 lineage_id,
 insight_id,
 pattern,
 change,
 evolution_ids,
 confidence,
 author,
 created_at
FROM insight
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 lineage_id,
 version_id,
 name,
 content,
 created_at
FROM agent_version
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 lineage_id,
 rollout_id,
 attempt_id,
 cycle,
 version_id,
 status,
 model,
 parameters,
 input,
 output,
 error_type,
 error_message,
 attributes,
 started_at,
 duration
FROM attempt
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 lineage_id,
 rollout_id,
 cycle,
 task,
 version_id,
 status,
 final_attempt_id,
 error_type,
 started_at,
 duration
FROM rollout
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 lineage_id,
 kind,
 event_id,
 text,
 author,
 created_at
FROM lineage_event
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 experiment_id,
 lineage_id,
 label,
 opened_at
FROM lineage
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 experiment_id,
 need,
 constraints,
 created_at
FROM experiment
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 consortium_id,
 name,
 strategy,
 prompt,
 final_text,
 status,
 iterations,
 source,
 outer_id,
 outer_member,
 session_id,
 turn_id,
 trace_id,
 span_id,
 started_at,
 duration,
 error_type,
 error_message,
 attributes
FROM consortium
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 consortium_id,
 iteration,
 arbiter_id,
 model,
 synthesis,
 ranking,
 confidence,
 reasoning,
 refinement_areas,
 needs_iteration,
 raw,
 session_id,
 turn_id,
 trace_id,
 started_at,
 duration,
 error_type,
 error_message,
 attributes
FROM consortium_iteration
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 consortium_id,
 iteration,
 member_id,
 model,
 instance,
 answer,
 session_id,
 turn_id,
 trace_id,
 started_at,
 duration,
 error_type,
 error_message,
 attributes
FROM consortium_member
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 scope_name,
 attributes,
 round,
 name,
 type,
 call_id,
 arguments,
 result,
 failed,
 error_type,
 error_message,
 agent_name
FROM tool_call
WHERE 0;

SELECT
 project,
 written_at,
 scope,
 hash,
 role,
 name,
 parts,
 source,
 dialect,
 first_seen
FROM message
WHERE 0;

SELECT
 project,
 written_at,
 hash,
 kind,
 body,
 source,
 first_seen
FROM definition
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 assembly_id,
 duration,
 status,
 agent_name,
 task_type,
 entities,
 budget,
 used,
 used_estimated,
 considered,
 kept,
 dropped,
 bypassed,
 bypass_reason,
 step_names,
 step_durations,
 step_errors,
 context_hash,
 error_type
FROM context_assembly
WHERE 0;

SELECT
 project,
 written_at,
 session_id,
 turn_id,
 trace_id,
 assembly_id,
 start_time,
 item_id,
 position,
 section,
 source,
 tokens,
 tokens_estimated,
 score,
 kept,
 reason,
 hop,
 requires_depth,
 content_hash
FROM context_item
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 scope_name,
 attributes,
 trace_state,
 name,
 kind,
 status_code,
 status_message,
 scope_version,
 resource,
 events,
 links
FROM span
WHERE 0;

SELECT
 project,
 written_at,
 kind,
 source,
 position,
 source_rows,
 began_at
FROM import_position
WHERE 0;

SELECT
 project,
 written_at,
 writer,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 round,
 status,
 provider,
 operation,
 request_model,
 request_parameters,
 stream,
 input_messages,
 system_prompt,
 tool_definitions,
 response_text,
 response_thoughts,
 tool_calls,
 agent_name,
 scope_name,
 attributes
FROM llm_call_running
WHERE 0;

SELECT
 `table`,
 sum(rows),
 sum(bytes_on_disk),
 count()
FROM system.parts
WHERE active AND (database = currentDatabase())
GROUP BY `table`;

SELECT toUnixTimestamp64Micro(now64(6)) AS now;
