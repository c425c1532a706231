INSERT INTO turnspan.tombstone FORMAT Native;

SELECT
 project,
 kind,
 key,
 until,
 forgetting_id,
 asked,
 reason,
 author,
 created_at,
 written_at
FROM tombstone
WHERE 0;

SELECT
 project,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
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
 input_tokens,
 output_tokens,
 cache_read_tokens,
 cache_write_tokens,
 reasoning_tokens,
 tokens_estimated,
 cost_usd,
 price_version,
 error_type,
 error_message,
 input_messages,
 output_messages,
 system_prompt,
 tool_definitions,
 context_assembled,
 response_text,
 response_thoughts,
 tool_calls,
 agent_name,
 agent_version,
 consortium_id,
 consortium_role,
 lineage_id,
 rollout_id,
 attempt_id,
 scope_name,
 attributes,
 writer,
 written_at
FROM llm_call
WHERE 0;

SELECT
 project,
 service,
 environment,
 session_id,
 user_id,
 turn_id,
 parent_turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 status,
 agent_name,
 agent_version,
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
 input_tokens,
 output_tokens,
 cache_read_tokens,
 cache_write_tokens,
 reasoning_tokens,
 cost_usd,
 models,
 error_type,
 error_message,
 lineage_id,
 rollout_id,
 attempt_id,
 scope_name,
 attributes,
 writer,
 written_at
FROM turn_summary
WHERE 0;

SELECT
 project,
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
 written_at,
 confidence,
 ranking_id
FROM annotation
WHERE 0;

SELECT
 project,
 subject_kind,
 subject_id,
 kind,
 withdrawal_id,
 annotation_id,
 author,
 source,
 comment,
 created_at,
 written_at
FROM withdrawal
WHERE 0;

SELECT
 project,
 name,
 definition,
 author,
 written_at
FROM review_queue
WHERE 0;

SELECT
 project,
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
 created_at,
 written_at
FROM dataset_case
WHERE 0;

SELECT
 project,
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
 created_at,
 writer,
 written_at
FROM artifact
WHERE 0;

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
 written_at
FROM artifact_check
WHERE 0;

SELECT
 project,
 lineage_id,
 evolution_id,
 from_version,
 to_version,
 trigger,
 hypothesis,
 plan,
 changes,
 author,
 created_at,
 writer,
 written_at
FROM evolution
WHERE 0;

SELECT
 project,
 experiment_id,
 lineage_id,
 insight_id,
 pattern,
 change,
 evolution_ids,
 confidence,
 author,
 created_at,
 writer,
 written_at
FROM insight
WHERE 0;

SELECT
 project,
 lineage_id,
 version_id,
 name,
 content,
 created_at,
 writer,
 written_at
FROM agent_version
WHERE 0;

SELECT
 project,
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
 duration,
 writer,
 written_at
FROM attempt
WHERE 0;

SELECT
 project,
 lineage_id,
 rollout_id,
 cycle,
 task,
 version_id,
 status,
 final_attempt_id,
 error_type,
 started_at,
 duration,
 writer,
 written_at
FROM rollout
WHERE 0;

SELECT
 project,
 lineage_id,
 kind,
 event_id,
 text,
 author,
 created_at,
 writer,
 written_at
FROM lineage_event
WHERE 0;

SELECT
 project,
 experiment_id,
 lineage_id,
 label,
 opened_at,
 writer,
 written_at
FROM lineage
WHERE 0;

SELECT
 project,
 experiment_id,
 need,
 constraints,
 created_at,
 writer,
 written_at
FROM experiment
WHERE 0;

SELECT
 project,
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
 attributes,
 writer,
 written_at
FROM consortium
WHERE 0;

SELECT
 project,
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
 attributes,
 writer,
 written_at
FROM consortium_iteration
WHERE 0;

SELECT
 project,
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
 attributes,
 writer,
 written_at
FROM consortium_member
WHERE 0;

SELECT
 project,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 start_time,
 duration,
 round,
 name,
 type,
 call_id,
 arguments,
 result,
 failed,
 error_type,
 error_message,
 agent_name,
 scope_name,
 attributes,
 writer,
 written_at
FROM tool_call
WHERE 0;

SELECT
 project,
 scope,
 hash,
 role,
 name,
 parts,
 source,
 dialect,
 first_seen,
 written_at
FROM message
WHERE 0;

SELECT
 project,
 hash,
 kind,
 body,
 source,
 first_seen,
 written_at
FROM definition
WHERE 0;

SELECT
 project,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 assembly_id,
 start_time,
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
 error_type,
 writer,
 written_at
FROM context_assembly
WHERE 0;

SELECT
 project,
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
 content_hash,
 written_at
FROM context_item
WHERE 0;

SELECT
 project,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 span_id,
 parent_span_id,
 trace_state,
 name,
 kind,
 start_time,
 duration,
 status_code,
 status_message,
 scope_name,
 scope_version,
 attributes,
 resource,
 events,
 links,
 writer,
 written_at
FROM span
WHERE 0;

SELECT
 project,
 kind,
 source,
 position,
 source_rows,
 began_at,
 written_at
FROM import_position
WHERE 0;

SELECT
 project,
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
 attributes,
 writer,
 written_at
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
