CREATE TABLE IF NOT EXISTS turnspan.schema_migration ON CLUSTER c
(
 `version` UInt32,
 `name` String,
 `checksum` String,
 `client_version` String,
 `applied_at` DateTime64(9, 'UTC') DEFAULT now64(9)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/all', '{shard}_{replica}', applied_at)
ORDER BY version;

CREATE TABLE IF NOT EXISTS turnspan.llm_call_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `service` LowCardinality(String) CODEC(ZSTD(1)),
 `environment` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `parent_span_id` String CODEC(ZSTD(3)),
 `start_time` DateTime64(9, 'UTC') CODEC(T64),
 `duration` Float64 CODEC(LZ4),
 `time_to_first_chunk` Nullable(Float64) CODEC(ZSTD(3)),
 `round` UInt32 CODEC(T64, ZSTD(1)),
 `provider` LowCardinality(String) CODEC(ZSTD(1)),
 `operation` LowCardinality(String) CODEC(ZSTD(1)),
 `request_model` LowCardinality(String) CODEC(ZSTD(1)),
 `response_model` LowCardinality(String) CODEC(ZSTD(1)),
 `response_id` String CODEC(ZSTD(3)),
 `request_parameters` String CODEC(ZSTD(6)),
 `stream` Bool CODEC(ZSTD(1)),
 `stream_outcome` LowCardinality(String) CODEC(ZSTD(1)),
 `tries` UInt8 CODEC(ZSTD(1)),
 `finish_reasons` Array(LowCardinality(String)) CODEC(ZSTD(1)),
 `input_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `output_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `cache_read_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `cache_write_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `reasoning_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `tokens_estimated` Bool CODEC(ZSTD(1)),
 `cost_usd` Nullable(Decimal(18, 12)) CODEC(ZSTD(3)),
 `price_version` LowCardinality(String) CODEC(ZSTD(1)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `input_messages` Array(FixedString(16)) CODEC(ZSTD(6)),
 `output_messages` Array(FixedString(16)) CODEC(ZSTD(6)),
 `system_prompt` FixedString(16) CODEC(ZSTD(1)),
 `tool_definitions` FixedString(16) CODEC(ZSTD(1)),
 `context_assembled` FixedString(16) CODEC(ZSTD(1)),
 `response_text` String CODEC(ZSTD(6)),
 `response_thoughts` String CODEC(ZSTD(6)),
 `tool_calls` String CODEC(ZSTD(6)),
 `agent_name` LowCardinality(String) CODEC(ZSTD(1)),
 `agent_version` LowCardinality(String) CODEC(ZSTD(1)),
 `consortium_id` String CODEC(ZSTD(3)),
 `consortium_role` Nullable(UInt8) CODEC(ZSTD(1)),
 `lineage_id` String CODEC(ZSTD(3)),
 `rollout_id` String CODEC(ZSTD(3)),
 `attempt_id` String CODEC(ZSTD(3)),
 `scope_name` LowCardinality(String) CODEC(ZSTD(1)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time start_time TYPE minmax GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_error error_type TYPE minmax GRANULARITY 1,
 INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX no_turn turn_id TYPE minmax GRANULARITY 1,
 INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, span_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS turnspan.llm_call ON CLUSTER c AS turnspan.llm_call_local
ENGINE = Distributed(c, turnspan, llm_call_local, cityHash64(project, if(session_id = '', trace_id, session_id)));

CREATE TABLE IF NOT EXISTS turnspan.turn_summary_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `service` LowCardinality(String) CODEC(ZSTD(1)),
 `environment` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `user_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `parent_turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `parent_span_id` String CODEC(ZSTD(3)),
 `start_time` DateTime64(9, 'UTC') CODEC(T64),
 `duration` Float64 CODEC(LZ4),
 `status` LowCardinality(String) CODEC(ZSTD(1)),
 `agent_name` LowCardinality(String) CODEC(ZSTD(1)),
 `agent_version` LowCardinality(String) CODEC(ZSTD(1)),
 `user_message` String CODEC(ZSTD(6)),
 `response_text` String CODEC(ZSTD(6)),
 `stop_reason` LowCardinality(String) CODEC(ZSTD(1)),
 `stop_detail` String CODEC(ZSTD(6)),
 `rounds` UInt32 CODEC(T64, ZSTD(1)),
 `max_rounds` Nullable(UInt32) CODEC(T64, ZSTD(1)),
 `llm_call_count` UInt32 CODEC(T64, ZSTD(1)),
 `tool_call_count` UInt32 CODEC(T64, ZSTD(1)),
 `tool_error_count` UInt32 CODEC(T64, ZSTD(1)),
 `silent_rounds` UInt32 CODEC(T64, ZSTD(1)),
 `max_identical_tool_streak` UInt32 CODEC(T64, ZSTD(1)),
 `no_progress_rounds` UInt32 CODEC(T64, ZSTD(1)),
 `turn_intent` LowCardinality(String) CODEC(ZSTD(1)),
 `chat_mode` LowCardinality(String) CODEC(ZSTD(1)),
 `task_type` LowCardinality(String) CODEC(ZSTD(1)),
 `target` String CODEC(ZSTD(3)),
 `input_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `output_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `cache_read_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `cache_write_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `reasoning_tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `cost_usd` Nullable(Decimal(18, 12)) CODEC(ZSTD(3)),
 `models` Array(LowCardinality(String)) CODEC(ZSTD(1)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `lineage_id` String CODEC(ZSTD(3)),
 `rollout_id` String CODEC(ZSTD(3)),
 `attempt_id` String CODEC(ZSTD(3)),
 `scope_name` LowCardinality(String) CODEC(ZSTD(1)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `unanswered` Bool MATERIALIZED (user_message != '') AND (NOT match(response_text, '\\S')) CODEC(ZSTD(1)),
 `is_action` Bool ALIAS turn_intent != 'conversational',
 INDEX by_time start_time TYPE minmax GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_error error_type TYPE minmax GRANULARITY 1,
 INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_parent parent_turn_id TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, turn_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS turnspan.turn_summary ON CLUSTER c AS turnspan.turn_summary_local
ENGINE = Distributed(c, turnspan, turn_summary_local, cityHash64(project, if(session_id = '', trace_id, session_id)));

CREATE TABLE IF NOT EXISTS turnspan.tool_call_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `service` LowCardinality(String) CODEC(ZSTD(1)),
 `environment` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `parent_span_id` String CODEC(ZSTD(3)),
 `start_time` DateTime64(9, 'UTC') CODEC(T64),
 `duration` Float64 CODEC(LZ4),
 `round` UInt32 CODEC(T64, ZSTD(1)),
 `name` LowCardinality(String) CODEC(ZSTD(1)),
 `type` LowCardinality(String) CODEC(ZSTD(1)),
 `call_id` String CODEC(ZSTD(3)),
 `arguments` String CODEC(ZSTD(6)),
 `result` String CODEC(ZSTD(6)),
 `failed` Bool CODEC(ZSTD(1)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `agent_name` LowCardinality(String) CODEC(ZSTD(1)),
 `scope_name` LowCardinality(String) CODEC(ZSTD(1)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `turn_hash` UInt32 MATERIALIZED cityHash64(turn_id) CODEC(LZ4),
 `session_hash` UInt32 MATERIALIZED cityHash64(session_id) CODEC(LZ4),
 INDEX by_time start_time TYPE minmax GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, span_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS turnspan.tool_call ON CLUSTER c AS turnspan.tool_call_local
ENGINE = Distributed(c, turnspan, tool_call_local, cityHash64(project, if(session_id = '', trace_id, session_id)));

CREATE TABLE IF NOT EXISTS turnspan.message_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `scope` String CODEC(ZSTD(3)),
 `hash` FixedString(16) CODEC(ZSTD(1)),
 `role` LowCardinality(String) CODEC(ZSTD(1)),
 `name` String CODEC(ZSTD(3)),
 `parts` String CODEC(ZSTD(6)),
 `source` String CODEC(ZSTD(6)),
 `dialect` LowCardinality(String) CODEC(ZSTD(1)),
 `first_seen` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_scope scope TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, scope, hash)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.message ON CLUSTER c AS turnspan.message_local
ENGINE = Distributed(c, turnspan, message_local, cityHash64(project, scope));

CREATE TABLE IF NOT EXISTS turnspan.definition_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `hash` FixedString(16) CODEC(ZSTD(1)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `body` String CODEC(ZSTD(6)),
 `source` String CODEC(ZSTD(6)),
 `first_seen` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, hash)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.definition ON CLUSTER c AS turnspan.definition_local
ENGINE = Distributed(c, turnspan, definition_local, cityHash64(project, hash));

CREATE TABLE IF NOT EXISTS turnspan.span_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `service` LowCardinality(String) CODEC(ZSTD(1)),
 `environment` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `parent_span_id` String CODEC(ZSTD(3)),
 `trace_state` String CODEC(ZSTD(3)),
 `name` LowCardinality(String) CODEC(ZSTD(1)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `start_time` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `duration` Float64 CODEC(ZSTD(3)),
 `status_code` LowCardinality(String) CODEC(ZSTD(1)),
 `status_message` String CODEC(ZSTD(6)),
 `scope_name` LowCardinality(String) CODEC(ZSTD(1)),
 `scope_version` LowCardinality(String) CODEC(ZSTD(1)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `resource` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `events` String CODEC(ZSTD(6)),
 `links` String CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time start_time TYPE minmax GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
PARTITION BY toMonday(start_time)
ORDER BY (project, trace_id, start_time, span_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS turnspan.span ON CLUSTER c AS turnspan.span_local
ENGINE = Distributed(c, turnspan, span_local, cityHash64(project, trace_id));

CREATE TABLE IF NOT EXISTS turnspan.annotation_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `subject_kind` LowCardinality(String) CODEC(ZSTD(1)),
 `subject_id` String CODEC(ZSTD(3)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `annotation_id` String CODEC(ZSTD(3)),
 `outcome` LowCardinality(String) CODEC(ZSTD(1)),
 `training_flag` Nullable(Int8) CODEC(ZSTD(1)),
 `score` Nullable(Float64) CODEC(ZSTD(3)),
 `comment` String CODEC(ZSTD(6)),
 `chosen_id` String CODEC(ZSTD(3)),
 `rejected_id` String CODEC(ZSTD(3)),
 `directive` String CODEC(ZSTD(6)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `source` LowCardinality(String) CODEC(ZSTD(6)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time created_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, subject_kind, kind, subject_id, annotation_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.annotation ON CLUSTER c AS turnspan.annotation_local
ENGINE = Distributed(c, turnspan, annotation_local, cityHash64(project, subject_id));

CREATE TABLE IF NOT EXISTS turnspan.withdrawal_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `subject_kind` LowCardinality(String) CODEC(ZSTD(1)),
 `subject_id` String CODEC(ZSTD(3)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `withdrawal_id` String CODEC(ZSTD(3)),
 `annotation_id` String CODEC(ZSTD(3)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `source` LowCardinality(String) CODEC(ZSTD(1)),
 `comment` String CODEC(ZSTD(6)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, subject_kind, kind, subject_id, withdrawal_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.withdrawal ON CLUSTER c AS turnspan.withdrawal_local
ENGINE = Distributed(c, turnspan, withdrawal_local, cityHash64(project, subject_id));

CREATE TABLE IF NOT EXISTS turnspan.context_assembly_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `service` LowCardinality(String) CODEC(ZSTD(1)),
 `environment` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `parent_span_id` String CODEC(ZSTD(3)),
 `assembly_id` String CODEC(ZSTD(3)),
 `start_time` DateTime64(9, 'UTC') CODEC(T64),
 `duration` Float64 CODEC(LZ4),
 `status` LowCardinality(String) CODEC(ZSTD(1)),
 `agent_name` LowCardinality(String) CODEC(ZSTD(1)),
 `task_type` LowCardinality(String) CODEC(ZSTD(1)),
 `entities` Array(String) CODEC(ZSTD(6)),
 `budget` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `used` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `used_estimated` Bool CODEC(ZSTD(1)),
 `considered` UInt32 CODEC(T64, ZSTD(1)),
 `kept` UInt32 CODEC(T64, ZSTD(1)),
 `dropped` UInt32 CODEC(T64, ZSTD(1)),
 `bypassed` Bool CODEC(ZSTD(1)),
 `bypass_reason` LowCardinality(String) CODEC(ZSTD(1)),
 `step_names` Array(LowCardinality(String)) CODEC(ZSTD(1)),
 `step_durations` Array(Float64) CODEC(ZSTD(3)),
 `step_errors` Array(LowCardinality(String)) CODEC(ZSTD(1)),
 `context_hash` FixedString(16) CODEC(ZSTD(1)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time start_time TYPE minmax GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_assembly assembly_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, assembly_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS turnspan.context_assembly ON CLUSTER c AS turnspan.context_assembly_local
ENGINE = Distributed(c, turnspan, context_assembly_local, cityHash64(project, if(session_id = '', trace_id, session_id)));

CREATE TABLE IF NOT EXISTS turnspan.context_item_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `assembly_id` String CODEC(ZSTD(3)),
 `start_time` DateTime64(9, 'UTC') CODEC(T64),
 `item_id` String CODEC(ZSTD(3)),
 `position` UInt32 CODEC(T64, ZSTD(1)),
 `section` LowCardinality(String) CODEC(ZSTD(1)),
 `source` LowCardinality(String) CODEC(ZSTD(3)),
 `tokens` Nullable(UInt64) CODEC(T64, ZSTD(1)),
 `tokens_estimated` Bool CODEC(ZSTD(1)),
 `score` Nullable(Float64) CODEC(ZSTD(3)),
 `kept` Bool CODEC(ZSTD(1)),
 `reason` LowCardinality(String) CODEC(ZSTD(1)),
 `hop` Nullable(UInt32) CODEC(T64, ZSTD(1)),
 `requires_depth` Nullable(UInt32) CODEC(T64, ZSTD(1)),
 `content_hash` FixedString(16) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time start_time TYPE minmax GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_assembly assembly_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
PARTITION BY toMonday(start_time)
ORDER BY (toMonday(start_time), project, session_id, start_time, assembly_id, item_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS turnspan.context_item ON CLUSTER c AS turnspan.context_item_local
ENGINE = Distributed(c, turnspan, context_item_local, cityHash64(project, if(session_id = '', trace_id, session_id)));

CREATE TABLE IF NOT EXISTS turnspan.artifact_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `target` String CODEC(ZSTD(3)),
 `artifact_id` String CODEC(ZSTD(3)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `version` String CODEC(ZSTD(3)),
 `content` FixedString(16) CODEC(ZSTD(1)),
 `content_bytes` UInt64 CODEC(T64, ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `call_id` String CODEC(ZSTD(3)),
 `lineage_id` String CODEC(ZSTD(3)),
 `rollout_id` String CODEC(ZSTD(3)),
 `attempt_id` String CODEC(ZSTD(3)),
 `version_id` String CODEC(ZSTD(3)),
 `cycle` Nullable(UInt32) CODEC(T64, ZSTD(1)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time created_at TYPE minmax GRANULARITY 1,
 INDEX by_artifact artifact_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_attempt attempt_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, target, artifact_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.artifact ON CLUSTER c AS turnspan.artifact_local
ENGINE = Distributed(c, turnspan, artifact_local, cityHash64(project, target));

CREATE TABLE IF NOT EXISTS turnspan.experiment_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `experiment_id` String CODEC(ZSTD(3)),
 `need` String CODEC(ZSTD(6)),
 `constraints` String CODEC(ZSTD(6)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, experiment_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.experiment ON CLUSTER c AS turnspan.experiment_local
ENGINE = Distributed(c, turnspan, experiment_local, cityHash64(project, experiment_id));

CREATE TABLE IF NOT EXISTS turnspan.lineage_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `experiment_id` String CODEC(ZSTD(3)),
 `lineage_id` String CODEC(ZSTD(3)),
 `label` String CODEC(ZSTD(3)),
 `opened_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, experiment_id, lineage_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.lineage ON CLUSTER c AS turnspan.lineage_local
ENGINE = Distributed(c, turnspan, lineage_local, cityHash64(project, lineage_id));

CREATE TABLE IF NOT EXISTS turnspan.lineage_event_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `lineage_id` String CODEC(ZSTD(3)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `event_id` String CODEC(ZSTD(3)),
 `text` String CODEC(ZSTD(6)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, lineage_id, kind, event_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.lineage_event ON CLUSTER c AS turnspan.lineage_event_local
ENGINE = Distributed(c, turnspan, lineage_event_local, cityHash64(project, lineage_id));

CREATE TABLE IF NOT EXISTS turnspan.agent_version_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `lineage_id` String CODEC(ZSTD(3)),
 `version_id` String CODEC(ZSTD(3)),
 `name` String CODEC(ZSTD(3)),
 `content` FixedString(16) CODEC(ZSTD(1)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, lineage_id, version_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.agent_version ON CLUSTER c AS turnspan.agent_version_local
ENGINE = Distributed(c, turnspan, agent_version_local, cityHash64(project, lineage_id));

ALTER TABLE turnspan.annotation_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `confidence` Nullable(Float64) CODEC(ZSTD(3))),
 (ADD COLUMN IF NOT EXISTS `ranking_id` String CODEC(ZSTD(3)));

ALTER TABLE turnspan.annotation ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `confidence` Nullable(Float64) CODEC(ZSTD(3))),
 (ADD COLUMN IF NOT EXISTS `ranking_id` String CODEC(ZSTD(3)));

CREATE TABLE IF NOT EXISTS turnspan.rollout_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `lineage_id` String CODEC(ZSTD(3)),
 `rollout_id` String CODEC(ZSTD(3)),
 `cycle` UInt32 CODEC(T64, ZSTD(1)),
 `task` String CODEC(ZSTD(6)),
 `version_id` String CODEC(ZSTD(3)),
 `status` LowCardinality(String) CODEC(ZSTD(1)),
 `final_attempt_id` String CODEC(ZSTD(3)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `started_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `duration` Float64 CODEC(LZ4),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, lineage_id, rollout_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.rollout ON CLUSTER c AS turnspan.rollout_local
ENGINE = Distributed(c, turnspan, rollout_local, cityHash64(project, lineage_id));

CREATE TABLE IF NOT EXISTS turnspan.attempt_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `lineage_id` String CODEC(ZSTD(3)),
 `rollout_id` String CODEC(ZSTD(3)),
 `attempt_id` String CODEC(ZSTD(3)),
 `cycle` UInt32 CODEC(T64, ZSTD(1)),
 `version_id` String CODEC(ZSTD(3)),
 `status` LowCardinality(String) CODEC(ZSTD(1)),
 `model` LowCardinality(String) CODEC(ZSTD(1)),
 `parameters` String CODEC(ZSTD(6)),
 `input` String CODEC(ZSTD(6)),
 `output` String CODEC(ZSTD(6)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `started_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `duration` Float64 CODEC(LZ4),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_attempt attempt_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, lineage_id, rollout_id, attempt_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.attempt ON CLUSTER c AS turnspan.attempt_local
ENGINE = Distributed(c, turnspan, attempt_local, cityHash64(project, lineage_id));

CREATE TABLE IF NOT EXISTS turnspan.evolution_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `lineage_id` String CODEC(ZSTD(3)),
 `evolution_id` String CODEC(ZSTD(3)),
 `from_version` String CODEC(ZSTD(3)),
 `to_version` String CODEC(ZSTD(3)),
 `trigger` String CODEC(ZSTD(6)),
 `hypothesis` String CODEC(ZSTD(6)),
 `plan` String CODEC(ZSTD(6)),
 `changes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, lineage_id, evolution_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.evolution ON CLUSTER c AS turnspan.evolution_local
ENGINE = Distributed(c, turnspan, evolution_local, cityHash64(project, lineage_id));

CREATE TABLE IF NOT EXISTS turnspan.insight_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `experiment_id` String CODEC(ZSTD(3)),
 `lineage_id` String CODEC(ZSTD(3)),
 `insight_id` String CODEC(ZSTD(3)),
 `pattern` String CODEC(ZSTD(6)),
 `change` LowCardinality(String) CODEC(ZSTD(1)),
 `evolution_ids` Array(String) CODEC(ZSTD(3)),
 `confidence` Nullable(Float64) CODEC(ZSTD(3)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, insight_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.insight ON CLUSTER c AS turnspan.insight_local
ENGINE = Distributed(c, turnspan, insight_local, cityHash64(project, insight_id));

ALTER TABLE turnspan.llm_call_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `said_intent` LowCardinality(String) MATERIALIZED attributes['turnspan.turn.intent'] CODEC(ZSTD(1))),
 (ADD COLUMN IF NOT EXISTS `said_mode` LowCardinality(String) MATERIALIZED attributes['turnspan.turn.chat_mode'] CODEC(ZSTD(1)));

ALTER TABLE turnspan.llm_call ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `said_intent` LowCardinality(String) MATERIALIZED attributes['turnspan.turn.intent'] CODEC(ZSTD(1))),
 (ADD COLUMN IF NOT EXISTS `said_mode` LowCardinality(String) MATERIALIZED attributes['turnspan.turn.chat_mode'] CODEC(ZSTD(1)));

CREATE TABLE IF NOT EXISTS turnspan.review_queue_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `name` String CODEC(ZSTD(3)),
 `definition` String CODEC(ZSTD(6)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, name)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.review_queue ON CLUSTER c AS turnspan.review_queue_local
ENGINE = Distributed(c, turnspan, review_queue_local, cityHash64(project, name));

CREATE TABLE IF NOT EXISTS turnspan.tombstone_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `key` FixedString(16) CODEC(NONE),
 `until` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `forgetting_id` String CODEC(ZSTD(3)),
 `asked` Bool CODEC(ZSTD(1)),
 `reason` String CODEC(ZSTD(6)),
 `author` LowCardinality(String) CODEC(ZSTD(1)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, kind, key, forgetting_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.tombstone ON CLUSTER c AS turnspan.tombstone_local
ENGINE = Distributed(c, turnspan, tombstone_local, cityHash64(project, key));

CREATE TABLE IF NOT EXISTS turnspan.artifact_check_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `source` LowCardinality(String) CODEC(ZSTD(1)),
 `artifact_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `target` String CODEC(ZSTD(3)),
 `decision` LowCardinality(String) CODEC(ZSTD(1)),
 `reason` String CODEC(ZSTD(6)),
 `revision` String CODEC(ZSTD(3)),
 `found_by` LowCardinality(String) CODEC(ZSTD(1)),
 `revised_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `later_revision` String CODEC(ZSTD(3)),
 `correction_id` String CODEC(ZSTD(3)),
 `similarity` Nullable(Float64) CODEC(ZSTD(3)),
 `decided_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `checked_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, source, artifact_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.artifact_check ON CLUSTER c AS turnspan.artifact_check_local
ENGINE = Distributed(c, turnspan, artifact_check_local, cityHash64(project, artifact_id));

CREATE TABLE IF NOT EXISTS turnspan.keeping_row ON CLUSTER c
(
 `pass` String CODEC(ZSTD(1)),
 `record` LowCardinality(String) CODEC(ZSTD(1)),
 `week` Date CODEC(ZSTD(1)),
 `reason` LowCardinality(String) CODEC(ZSTD(1)),
 `key` FixedString(16) CODEC(LZ4),
 `decided_at` DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/all', '{shard}_{replica}', decided_at)
PARTITION BY pass
ORDER BY (pass, record, week, key);

CREATE TABLE IF NOT EXISTS turnspan.import_position_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `kind` LowCardinality(String) CODEC(ZSTD(1)),
 `source` String CODEC(ZSTD(3)),
 `position` String CODEC(ZSTD(3)),
 `source_rows` UInt64 CODEC(T64, ZSTD(1)),
 `began_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, kind, source)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.import_position ON CLUSTER c AS turnspan.import_position_local
ENGINE = Distributed(c, turnspan, import_position_local, cityHash64(project, source));

CREATE TABLE IF NOT EXISTS turnspan.consortium_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `consortium_id` String CODEC(ZSTD(3)),
 `name` LowCardinality(String) CODEC(ZSTD(1)),
 `strategy` LowCardinality(String) CODEC(ZSTD(1)),
 `prompt` FixedString(16) CODEC(ZSTD(1)),
 `final_text` FixedString(16) CODEC(ZSTD(1)),
 `status` LowCardinality(String) CODEC(ZSTD(1)),
 `iterations` UInt32 CODEC(T64, ZSTD(1)),
 `source` LowCardinality(String) CODEC(ZSTD(1)),
 `outer_id` String CODEC(ZSTD(3)),
 `outer_member` String CODEC(ZSTD(3)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `started_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `duration` Float64 CODEC(ZSTD(3)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_time started_at TYPE minmax GRANULARITY 1,
 INDEX by_run consortium_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_turn turn_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, consortium_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.consortium ON CLUSTER c AS turnspan.consortium_local
ENGINE = Distributed(c, turnspan, consortium_local, cityHash64(project, consortium_id));

CREATE TABLE IF NOT EXISTS turnspan.consortium_iteration_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `consortium_id` String CODEC(ZSTD(3)),
 `iteration` UInt32 CODEC(T64, ZSTD(1)),
 `arbiter_id` String CODEC(ZSTD(3)),
 `model` LowCardinality(String) CODEC(ZSTD(1)),
 `synthesis` String CODEC(ZSTD(6)),
 `ranking` Array(String) CODEC(ZSTD(3)),
 `confidence` Nullable(Float64) CODEC(ZSTD(3)),
 `reasoning` String CODEC(ZSTD(6)),
 `refinement_areas` Array(String) CODEC(ZSTD(6)),
 `needs_iteration` Nullable(UInt8) CODEC(ZSTD(1)),
 `raw` String CODEC(ZSTD(6)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `started_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `duration` Float64 CODEC(ZSTD(3)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_run consortium_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, consortium_id, arbiter_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.consortium_iteration ON CLUSTER c AS turnspan.consortium_iteration_local
ENGINE = Distributed(c, turnspan, consortium_iteration_local, cityHash64(project, consortium_id));

CREATE TABLE IF NOT EXISTS turnspan.consortium_member_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `consortium_id` String CODEC(ZSTD(3)),
 `iteration` UInt32 CODEC(T64, ZSTD(1)),
 `member_id` String CODEC(ZSTD(3)),
 `model` LowCardinality(String) CODEC(ZSTD(1)),
 `instance` String CODEC(ZSTD(3)),
 `answer` String CODEC(ZSTD(6)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `started_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `duration` Float64 CODEC(ZSTD(3)),
 `error_type` LowCardinality(String) CODEC(ZSTD(1)),
 `error_message` String CODEC(ZSTD(6)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_run consortium_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, consortium_id, member_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.consortium_member ON CLUSTER c AS turnspan.consortium_member_local
ENGINE = Distributed(c, turnspan, consortium_member_local, cityHash64(project, consortium_id));

ALTER TABLE turnspan.llm_call_local ON CLUSTER c
 (ADD INDEX IF NOT EXISTS by_consortium consortium_id TYPE minmax GRANULARITY 1);

ALTER TABLE turnspan.message_local ON CLUSTER c
 (ADD INDEX IF NOT EXISTS by_word lowerUTF8(parts) TYPE text(tokenizer = splitByNonAlpha, posting_list_codec = 'bitpacking') GRANULARITY 100000000),
 (MATERIALIZE INDEX by_word);

ALTER TABLE turnspan.tool_call_local ON CLUSTER c
 (ADD INDEX IF NOT EXISTS by_word lowerUTF8(concat(name, ' ', arguments, ' ', result, ' ', error_type, ' ', error_message)) TYPE text(tokenizer = splitByNonAlpha, posting_list_codec = 'bitpacking') GRANULARITY 100000000),
 (MATERIALIZE INDEX by_word);

ALTER TABLE turnspan.turn_summary_local ON CLUSTER c
 (ADD INDEX IF NOT EXISTS by_word lowerUTF8(concat(user_message, ' ', response_text, ' ', stop_reason, ' ', stop_detail, ' ', error_type, ' ', error_message)) TYPE text(tokenizer = splitByNonAlpha, posting_list_codec = 'bitpacking') GRANULARITY 100000000),
 (MATERIALIZE INDEX by_word);

ALTER TABLE turnspan.tool_call_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure` String MATERIALIZED if(failed, leftUTF8(if(error_message != '', error_message, result), 400), '') CODEC(ZSTD(3))),
 (ADD COLUMN IF NOT EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(failure, '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.tool_call ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure` String MATERIALIZED if(failed, leftUTF8(if(error_message != '', error_message, result), 400), '') CODEC(ZSTD(3))),
 (ADD COLUMN IF NOT EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(failure, '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.llm_call_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.llm_call ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.turn_summary_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.turn_summary ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.message_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `head` String MATERIALIZED toJSONString((toUInt32(length(parts)), if(role != 'assistant', '', hex(sipHash64(trimBoth(arrayStringConcat(arrayMap(p -> (p.4), arrayFilter(p -> ((p.1) = 'text'), JSONExtract(parts, 'Array(Tuple(type String, id String, name String,\n                    content String, arguments String, response String))') AS found)), '\n\n')), arrayMap(p -> (p.2, p.3), arrayFilter(p -> ((p.1) = 'tool_call'), found))))), if(empty(found) AND (parts NOT IN ('', '[]')), [('text', '', '', leftUTF8(parts, 301), '', '', '')], arrayMap((p, answer) -> (p.1, p.2, p.3, leftUTF8(p.4, 301), leftUTF8(p.5, 301), leftUTF8(answer, 301), if((p.1) = 'tool_call_response', hex(sipHash64(translate(answer, ' \n\t', ''))), '')), found, arrayMap((p, blocks) -> if((NOT empty(blocks)) AND arrayAll(block -> ((block.1) = 'text'), blocks), arrayStringConcat(blocks.2, '\n'), p.6), found, arrayMap(p -> JSONExtract(if(startsWith(p.6, '[{'), p.6, ''), 'Array(Tuple(type String, text String))'), found)))))) CODEC(ZSTD(6))),
 (MATERIALIZE COLUMN head);

ALTER TABLE turnspan.message ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `head` String MATERIALIZED toJSONString((toUInt32(length(parts)), if(role != 'assistant', '', hex(sipHash64(trimBoth(arrayStringConcat(arrayMap(p -> (p.4), arrayFilter(p -> ((p.1) = 'text'), JSONExtract(parts, 'Array(Tuple(type String, id String, name String,\n                    content String, arguments String, response String))') AS found)), '\n\n')), arrayMap(p -> (p.2, p.3), arrayFilter(p -> ((p.1) = 'tool_call'), found))))), if(empty(found) AND (parts NOT IN ('', '[]')), [('text', '', '', leftUTF8(parts, 301), '', '', '')], arrayMap((p, answer) -> (p.1, p.2, p.3, leftUTF8(p.4, 301), leftUTF8(p.5, 301), leftUTF8(answer, 301), if((p.1) = 'tool_call_response', hex(sipHash64(translate(answer, ' \n\t', ''))), '')), found, arrayMap((p, blocks) -> if((NOT empty(blocks)) AND arrayAll(block -> ((block.1) = 'text'), blocks), arrayStringConcat(blocks.2, '\n'), p.6), found, arrayMap(p -> JSONExtract(if(startsWith(p.6, '[{'), p.6, ''), 'Array(Tuple(type String, text String))'), found)))))) CODEC(ZSTD(6)));

ALTER TABLE turnspan.llm_call_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `sent_last` Array(FixedString(16)) MATERIALIZED arraySlice(input_messages, -16) CODEC(ZSTD(3))),
 (ADD COLUMN IF NOT EXISTS `sent_digests` Array(UInt32) MATERIALIZED arraySlice(arrayPushFront(arrayMap(sum -> toUInt32(bitShiftRight(sum, 32)), arrayCumSum(arrayMap((message, at) -> cityHash64(message, at), input_messages, arrayEnumerate(input_messages)))), toUInt32(0)), -17) CODEC(ZSTD(3))),
 (MATERIALIZE COLUMN sent_last),
 (MATERIALIZE COLUMN sent_digests);

ALTER TABLE turnspan.llm_call ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `sent_last` Array(FixedString(16)) MATERIALIZED arraySlice(input_messages, -16) CODEC(ZSTD(3))),
 (ADD COLUMN IF NOT EXISTS `sent_digests` Array(UInt32) MATERIALIZED arraySlice(arrayPushFront(arrayMap(sum -> toUInt32(bitShiftRight(sum, 32)), arrayCumSum(arrayMap((message, at) -> cityHash64(message, at), input_messages, arrayEnumerate(input_messages)))), toUInt32(0)), -17) CODEC(ZSTD(3)));

CREATE TABLE IF NOT EXISTS turnspan.llm_call_running_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `service` LowCardinality(String) CODEC(ZSTD(1)),
 `environment` LowCardinality(String) CODEC(ZSTD(1)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `trace_id` String CODEC(ZSTD(3)),
 `span_id` String CODEC(ZSTD(3)),
 `parent_span_id` String CODEC(ZSTD(3)),
 `start_time` DateTime64(9, 'UTC') CODEC(T64),
 `round` UInt32 CODEC(T64, ZSTD(1)),
 `status` LowCardinality(String) CODEC(ZSTD(1)),
 `provider` LowCardinality(String) CODEC(ZSTD(1)),
 `operation` LowCardinality(String) CODEC(ZSTD(1)),
 `request_model` LowCardinality(String) CODEC(ZSTD(1)),
 `request_parameters` String CODEC(ZSTD(6)),
 `stream` Bool CODEC(ZSTD(1)),
 `input_messages` Array(FixedString(16)) CODEC(ZSTD(6)),
 `system_prompt` FixedString(16) CODEC(ZSTD(1)),
 `tool_definitions` FixedString(16) CODEC(ZSTD(1)),
 `response_text` String CODEC(ZSTD(6)),
 `response_thoughts` String CODEC(ZSTD(6)),
 `tool_calls` String CODEC(ZSTD(6)),
 `agent_name` LowCardinality(String) CODEC(ZSTD(1)),
 `scope_name` LowCardinality(String) CODEC(ZSTD(1)),
 `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(6)),
 `writer` LowCardinality(String) CODEC(ZSTD(1)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
 INDEX by_span span_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, session_id, start_time, span_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.llm_call_running ON CLUSTER c AS turnspan.llm_call_running_local
ENGINE = Distributed(c, turnspan, llm_call_running_local, cityHash64(project, if(session_id = '', trace_id, session_id)));

CREATE TABLE IF NOT EXISTS turnspan.dataset_case_local ON CLUSTER c
(
 `project` LowCardinality(String) CODEC(ZSTD(1)),
 `dataset` LowCardinality(String) CODEC(ZSTD(1)),
 `version` String CODEC(ZSTD(3)),
 `case_id` String CODEC(ZSTD(3)),
 `position` UInt32 CODEC(T64, ZSTD(1)),
 `input` String CODEC(ZSTD(6)),
 `input_json` Bool CODEC(ZSTD(1)),
 `expected` String CODEC(ZSTD(6)),
 `expected_json` Bool CODEC(ZSTD(1)),
 `tags` Array(String) CODEC(ZSTD(3)),
 `session_id` String CODEC(ZSTD(3)),
 `turn_id` String CODEC(ZSTD(3)),
 `created_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
 `written_at` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)
ORDER BY (project, dataset, version, case_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS turnspan.dataset_case ON CLUSTER c AS turnspan.dataset_case_local
ENGINE = Distributed(c, turnspan, dataset_case_local, cityHash64(project, dataset));

ALTER TABLE turnspan.llm_call_running_local ON CLUSTER c
 (ADD INDEX IF NOT EXISTS by_status status TYPE minmax GRANULARITY 1),
 (MATERIALIZE INDEX by_status);

ALTER TABLE turnspan.tool_call_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_turn` UInt64 MATERIALIZED if(failed AND (turn_id != ''), cityHash64(project, turn_id), 0) CODEC(ZSTD(1)));

ALTER TABLE turnspan.tool_call ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_turn` UInt64 MATERIALIZED if(failed AND (turn_id != ''), cityHash64(project, turn_id), 0) CODEC(ZSTD(1)));

ALTER TABLE turnspan.llm_call_local ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_turn` UInt64 MATERIALIZED if((error_type != '') AND (turn_id != ''), cityHash64(project, turn_id), 0) CODEC(ZSTD(1)));

ALTER TABLE turnspan.llm_call ON CLUSTER c
 (ADD COLUMN IF NOT EXISTS `failure_turn` UInt64 MATERIALIZED if((error_type != '') AND (turn_id != ''), cityHash64(project, turn_id), 0) CODEC(ZSTD(1)));

ALTER TABLE turnspan.message_local ON CLUSTER c
 (MODIFY SETTING text_index_dictionary_block_size = 8192, text_index_dictionary_block_frontcoding_compression = 0);

ALTER TABLE turnspan.tool_call_local ON CLUSTER c
 (MODIFY SETTING text_index_dictionary_block_size = 8192, text_index_dictionary_block_frontcoding_compression = 0);

ALTER TABLE turnspan.message_local ON CLUSTER c
 (MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 536870912);

ALTER TABLE turnspan.tool_call_local ON CLUSTER c
 (MODIFY COLUMN IF EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(failure, '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.tool_call ON CLUSTER c
 (MODIFY COLUMN IF EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(failure, '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.llm_call_local ON CLUSTER c
 (MODIFY COLUMN IF EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.llm_call ON CLUSTER c
 (MODIFY COLUMN IF EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.turn_summary_local ON CLUSTER c
 (MODIFY COLUMN IF EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

ALTER TABLE turnspan.turn_summary ON CLUSTER c
 (MODIFY COLUMN IF EXISTS `failure_shape` String MATERIALIZED replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(if(error_type != '', leftUTF8(error_message, 400), ''), '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'), '\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'), '[0-9]+(?:[.,][0-9]+)*', '#') CODEC(ZSTD(3)));

CREATE OR REPLACE VIEW turnspan.annotation_withdrawn ON CLUSTER c
AS SELECT
 project,
 subject_kind,
 kind,
 subject_id,
 (arrayJoin(withdrawn) AS one).1 AS annotation_id,
 one.3 AS withdrawn_at,
 one.4 AS withdrawn_by,
 one.5 AS reason
FROM
(
 SELECT
  project,
  subject_kind,
  kind,
  subject_id,
  arrayFilter(one -> ((one.3) != toDateTime64(0, 9, 'UTC')), arrayFold((given, event) -> multiIf(NOT (event.2), arrayPushBack(given, (event.3, event.4, toDateTime64(0, 9, 'UTC'), '', '')), arrayMap((one, position) -> if(position = arrayLastIndex(found -> (((found.3) = toDateTime64(0, 9, 'UTC')) AND if((event.3) = '', ((event.4) IN ('', found.2)), (found.1) = (event.3))), given), (one.1, one.2, event.1, event.4, event.5), one), given, arrayEnumerate(given))), arraySort(groupArray((at, taken_back, id, by, why, written))), CAST([], 'Array(Tuple(String, String, DateTime64(9, \'UTC\'), String, String))'))) AS withdrawn
 FROM
 (
  SELECT
   project,
   subject_kind,
   kind,
   subject_id,
   created_at AS at,
   false AS taken_back,
   annotation_id AS id,
   toString(author) AS by,
   '' AS why,
   written_at AS written
  FROM turnspan.annotation
  FINAL
  WHERE (project, subject_kind, kind, subject_id) IN (
   SELECT
    project,
    subject_kind,
    kind,
    subject_id
   FROM turnspan.withdrawal
  )
  UNION ALL
  SELECT
   project,
   subject_kind,
   kind,
   subject_id,
   created_at,
   true,
   annotation_id,
   toString(author),
   comment,
   written_at
  FROM turnspan.withdrawal
  FINAL
 )
 GROUP BY
  project,
  subject_kind,
  kind,
  subject_id
);

CREATE OR REPLACE VIEW turnspan.log_content ON CLUSTER c
AS WITH
 arraySort(call -> (call.2, call.3, call.4), found_calls) AS sorted_calls
SELECT
 content_project,
 content_scope,
 user_hashes,
 user_parts,
 arraySort(definition -> (definition.1), found_definitions) AS definitions,
 comments,
 arrayFilter((call, next) -> ((call.3) != next), sorted_calls, arrayPopFront(arrayPushBack(sorted_calls.3, ''))) AS calls
FROM
(
 SELECT
  content_project,
  content_scope,
  groupArrayIf(hash, kind = 3) AS user_hashes,
  groupArrayIf(text, kind = 3) AS user_parts,
  groupArrayIf((hash, text), kind = 2) AS found_definitions,
  groupArrayIf((turn, time, span, written, vendor, model, hash, context, text, asked), kind = 1) AS found_calls,
  groupArrayIf((turn, text), kind = 4) AS comments
 FROM
 (
  SELECT
   toString(project) AS content_project,
   session_id AS content_scope,
   1 AS kind,
   system_prompt AS hash,
   response_thoughts AS text,
   turn_id AS turn,
   span_id AS span,
   start_time AS time,
   written_at AS written,
   toString(provider) AS vendor,
   toString(if(response_model = '', request_model, response_model)) AS model,
   context_assembled AS context,
   tool_calls AS asked
  FROM turnspan.llm_call
  WHERE session_id != ''
  UNION ALL
  SELECT
   toString(used.project),
   used.scope,
   2,
   d.hash,
   d.body,
   '',
   '',
   toDateTime64(0, 9, 'UTC'),
   toDateTime64(0, 9, 'UTC'),
   '',
   '',
   toFixedString('', 16),
   ''
  FROM
  (
   SELECT
    project,
    hash,
    body
   FROM turnspan.definition
  ) AS d
  INNER JOIN
  (
   SELECT DISTINCT
    project,
    session_id AS scope,
    arrayJoin([system_prompt, context_assembled]) AS hash
   FROM turnspan.llm_call
   WHERE session_id != ''
   UNION ALL
   SELECT DISTINCT
    project,
    trace_id AS scope,
    arrayJoin([system_prompt, context_assembled]) AS hash
   FROM turnspan.llm_call
   WHERE session_id = ''
  ) AS used ON (d.project = used.project) AND (d.hash = used.hash)
  UNION ALL
  SELECT
   toString(project),
   trace_id,
   1,
   system_prompt,
   response_thoughts,
   turn_id,
   span_id,
   start_time,
   written_at,
   toString(provider),
   toString(if(response_model = '', request_model, response_model)),
   context_assembled,
   tool_calls
  FROM turnspan.llm_call
  WHERE session_id = ''
  UNION ALL
  SELECT
   toString(project),
   scope,
   3,
   hash,
   parts,
   '',
   '',
   toDateTime64(0, 9, 'UTC'),
   toDateTime64(0, 9, 'UTC'),
   '',
   '',
   toFixedString('', 16),
   ''
  FROM turnspan.message
  WHERE role = 'user'
  UNION ALL
  SELECT
   toString(judged.project),
   judged.scope,
   4,
   toFixedString('', 16),
   j.comment,
   j.subject_id,
   '',
   toDateTime64(0, 9, 'UTC'),
   toDateTime64(0, 9, 'UTC'),
   '',
   '',
   toFixedString('', 16),
   ''
  FROM
  (
   SELECT
    project,
    subject_id,
    argMax(annotation.comment, (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), created_at, written_at, annotation_id)) AS comment
   FROM turnspan.annotation
   WHERE (subject_kind IN ('turn', 'call', 'llm_call')) AND (kind = 'comment') AND (((
    SELECT count()
    FROM turnspan.withdrawal
   ) = 0) OR ((project, subject_kind, subject_id, annotation_id) NOT IN (
    SELECT
     project,
     subject_kind,
     subject_id,
     annotation_id
    FROM turnspan.annotation_withdrawn
    WHERE kind = 'comment'
   )))
   GROUP BY
    project,
    subject_id
  ) AS j
  INNER JOIN
  (
   SELECT DISTINCT
    project,
    session_id AS scope,
    turn_id AS id
   FROM turnspan.turn_summary
   WHERE session_id != ''
   UNION ALL
   SELECT DISTINCT
    project,
    trace_id AS scope,
    turn_id AS id
   FROM turnspan.turn_summary
   WHERE session_id = ''
   UNION ALL
   SELECT DISTINCT
    project,
    session_id AS scope,
    span_id AS id
   FROM turnspan.llm_call
   WHERE (session_id != '') AND (turn_id IN (''))
   UNION ALL
   SELECT DISTINCT
    project,
    trace_id AS scope,
    span_id AS id
   FROM turnspan.llm_call
   WHERE (session_id = '') AND (turn_id IN (''))
  ) AS judged ON (j.project = judged.project) AND (j.subject_id = judged.id)
 )
 GROUP BY
  content_project,
  content_scope
 SETTINGS final = 0
);

CREATE OR REPLACE VIEW turnspan.turn_content ON CLUSTER c
AS WITH
 arraySort(call -> (call.2, call.3, call.4), found_calls) AS sorted_calls,
 arraySort(tool -> (tool.2, tool.3, tool.4), found_tools) AS sorted_tools
SELECT
 content_project,
 content_scope,
 arraySort(definition -> (definition.1), found_definitions) AS definitions,
 arrayFilter((call, next) -> ((call.3) != next), sorted_calls, arrayPopFront(arrayPushBack(sorted_calls.3, ''))) AS calls,
 arrayFilter((tool, next) -> ((tool.3) != next), sorted_tools, arrayPopFront(arrayPushBack(sorted_tools.3, ''))) AS tools
FROM
(
 SELECT
  content_project,
  content_scope,
  groupArrayIf((hash, text), kind = 2) AS found_definitions,
  groupArrayIf((turn, time, span, written, vendor, model, hash, context, text, asked), kind = 1) AS found_calls,
  groupArrayIf((turn, time, span, written, number, text), kind = 3) AS found_tools
 FROM
 (
  SELECT
   toString(project) AS content_project,
   session_id AS content_scope,
   1 AS kind,
   system_prompt AS hash,
   response_thoughts AS text,
   turn_id AS turn,
   span_id AS span,
   start_time AS time,
   written_at AS written,
   toString(provider) AS vendor,
   toString(if(response_model = '', request_model, response_model)) AS model,
   context_assembled AS context,
   tool_calls AS asked,
   toUInt32(0) AS number
  FROM turnspan.llm_call
  WHERE session_id != ''
  UNION ALL
  SELECT
   toString(used.project),
   used.scope,
   2,
   d.hash,
   d.body,
   '',
   '',
   toDateTime64(0, 9, 'UTC'),
   toDateTime64(0, 9, 'UTC'),
   '',
   '',
   toFixedString('', 16),
   '',
   toUInt32(0)
  FROM
  (
   SELECT
    project,
    hash,
    body
   FROM turnspan.definition
  ) AS d
  INNER JOIN
  (
   SELECT DISTINCT
    project,
    session_id AS scope,
    arrayJoin([system_prompt, context_assembled]) AS hash
   FROM turnspan.llm_call
   WHERE session_id != ''
   UNION ALL
   SELECT DISTINCT
    project,
    trace_id AS scope,
    arrayJoin([system_prompt, context_assembled]) AS hash
   FROM turnspan.llm_call
   WHERE session_id = ''
  ) AS used ON (d.project = used.project) AND (d.hash = used.hash)
  UNION ALL
  SELECT
   toString(project),
   trace_id,
   1,
   system_prompt,
   response_thoughts,
   turn_id,
   span_id,
   start_time,
   written_at,
   toString(provider),
   toString(if(response_model = '', request_model, response_model)),
   context_assembled,
   tool_calls,
   toUInt32(0)
  FROM turnspan.llm_call
  WHERE session_id = ''
  UNION ALL
  SELECT
   toString(project),
   session_id,
   3,
   toFixedString('', 16),
   concat('{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name), ',"result":', toJSONString(result), ',"failed":', if(failed, 'true', 'false'), '}'),
   turn_id,
   span_id,
   start_time,
   written_at,
   '',
   '',
   toFixedString('', 16),
   '',
   round
  FROM turnspan.tool_call
  WHERE session_id != ''
  UNION ALL
  SELECT
   toString(project),
   trace_id,
   3,
   toFixedString('', 16),
   concat('{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name), ',"result":', toJSONString(result), ',"failed":', if(failed, 'true', 'false'), '}'),
   turn_id,
   span_id,
   start_time,
   written_at,
   '',
   '',
   toFixedString('', 16),
   '',
   round
  FROM turnspan.tool_call
  WHERE session_id = ''
 )
 GROUP BY
  content_project,
  content_scope
 SETTINGS final = 0
);

CREATE OR REPLACE VIEW turnspan.call_content ON CLUSTER c
AS WITH
 arraySort(tool -> (tool.2, tool.3, tool.4), found_tools) AS sorted_tools
SELECT
 content_project,
 content_scope,
 arraySort(found_hashes) AS stored_hashes,
 arraySort((message, hash) -> hash, found_messages, found_hashes) AS stored_messages,
 arraySort(definition -> (definition.1), found_definitions) AS definitions,
 arrayReverseSort(turn -> (turn.2, turn.1), found_turns) AS turns,
 arrayFilter((tool, next) -> ((tool.3) != next), sorted_tools, arrayPopFront(arrayPushBack(sorted_tools.3, ''))) AS tools
FROM
(
 SELECT
  content_project,
  content_scope,
  groupArrayIf(hash, kind = 1) AS found_hashes,
  groupArrayIf(text, kind = 1) AS found_messages,
  groupArrayIf((hash, text), kind = 2) AS found_definitions,
  groupArrayIf((turn, written, text, intent, mode, task, aim), kind = 3) AS found_turns,
  groupArrayIf((turn, time, span, written, number, text, flag), kind = 4) AS found_tools
 FROM
 (
  SELECT
   toString(project) AS content_project,
   scope AS content_scope,
   1 AS kind,
   hash,
   concat('{"role":', toJSONString(role), if(name = '', '', concat(',"name":', toJSONString(name))), ',"parts":', if(parts = '', '[]', parts), '}') AS text,
   '' AS turn,
   '' AS span,
   toDateTime64(0, 9, 'UTC') AS time,
   toDateTime64(0, 9, 'UTC') AS written,
   '' AS intent,
   '' AS mode,
   '' AS task,
   '' AS aim,
   toUInt32(0) AS number,
   false AS flag
  FROM turnspan.message
  UNION ALL
  SELECT
   toString(used.project),
   used.scope,
   2,
   d.hash,
   d.body,
   '',
   '',
   toDateTime64(0, 9, 'UTC'),
   toDateTime64(0, 9, 'UTC'),
   '',
   '',
   '',
   '',
   toUInt32(0),
   false
  FROM
  (
   SELECT
    project,
    hash,
    body
   FROM turnspan.definition
  ) AS d
  INNER JOIN
  (
   SELECT DISTINCT
    project,
    session_id AS scope,
    arrayJoin([system_prompt, tool_definitions, context_assembled]) AS hash
   FROM turnspan.llm_call
   WHERE session_id != ''
   UNION ALL
   SELECT DISTINCT
    project,
    trace_id AS scope,
    arrayJoin([system_prompt, tool_definitions, context_assembled]) AS hash
   FROM turnspan.llm_call
   WHERE session_id = ''
  ) AS used ON (d.project = used.project) AND (d.hash = used.hash)
  UNION ALL
  SELECT
   toString(project),
   session_id,
   3,
   toFixedString('', 16),
   user_message,
   turn_id,
   '',
   toDateTime64(0, 9, 'UTC'),
   written_at,
   toString(turn_intent),
   toString(chat_mode),
   toString(task_type),
   target,
   toUInt32(0),
   false
  FROM turnspan.turn_summary
  WHERE session_id != ''
  UNION ALL
  SELECT
   toString(project),
   trace_id,
   3,
   toFixedString('', 16),
   user_message,
   turn_id,
   '',
   toDateTime64(0, 9, 'UTC'),
   written_at,
   toString(turn_intent),
   toString(chat_mode),
   toString(task_type),
   target,
   toUInt32(0),
   false
  FROM turnspan.turn_summary
  WHERE session_id = ''
  UNION ALL
  SELECT
   toString(project),
   session_id,
   4,
   toFixedString('', 16),
   concat('{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name), ',"result":', toJSONString(result), ',"failed":', if(failed, 'true', 'false'), '}'),
   turn_id,
   span_id,
   start_time,
   written_at,
   '',
   '',
   '',
   '',
   round,
   failed
  FROM turnspan.tool_call
  WHERE session_id != ''
  UNION ALL
  SELECT
   toString(project),
   trace_id,
   4,
   toFixedString('', 16),
   concat('{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name), ',"result":', toJSONString(result), ',"failed":', if(failed, 'true', 'false'), '}'),
   turn_id,
   span_id,
   start_time,
   written_at,
   '',
   '',
   '',
   '',
   round,
   failed
  FROM turnspan.tool_call
  WHERE session_id = ''
 )
 GROUP BY
  content_project,
  content_scope
 SETTINGS final = 0
);

CREATE OR REPLACE VIEW turnspan.llm_call_full ON CLUSTER c
AS WITH
 content.1 AS stored_hashes,
 content.2 AS stored_messages,
 content.3 AS definitions,
 content.4 AS turns,
 content.5 AS tools,
 arrayConcat(input_messages, output_messages) AS wanted,
 arraySort(arrayZip(arrayConcat(stored_hashes, wanted), arrayConcat(arrayWithConstant(length(stored_hashes), toUInt32(0)), arrayEnumerate(wanted)), arrayConcat(stored_messages, arrayWithConstant(length(wanted), '')))) AS merged,
 arrayPopBack(arrayPushFront(merged.1, toFixedString('', 16))) AS hashes_before,
 arrayFill((message, hash, before, position) -> ((position = 0) OR (hash != before)), merged.3, merged.1, hashes_before, merged.2) AS filled,
 arraySort((message, position) -> position, arrayFilter((message, position) -> (position > 0), filled, merged.2), arrayFilter(position -> (position > 0), merged.2)) AS found,
 arrayMap((message, hash) -> if(message != '', message, concat('{"role":"unknown","parts":[],"missing":"', lower(hex(hash)), '"}')), found, wanted) AS messages,
 arrayFirst(turn -> ((turn.1) = turn_id), turns) AS own_turn,
 arrayFilter(tool -> ((turn_id != '') AND ((tool.1) = turn_id) AND ((tool.5) = round)), tools) AS executed
SELECT
 * EXCEPT (week, message_scope, content, content_project, content_scope),
 (own_turn.1) != '' AS turn_known,
 own_turn.3 AS turn_user_message,
 own_turn.4 AS turn_intent,
 own_turn.5 AS chat_mode,
 own_turn.6 AS task_type,
 own_turn.7 AS target,
 concat('[', arrayStringConcat(executed.6, ','), ']') AS tool_results,
 toUInt32(arrayCount(executed.7)) AS tool_error_count,
 (arrayFirst(found -> ((found.1) = system_prompt_hash), definitions)).2 AS system_prompt,
 (arrayFirst(found -> ((found.1) = tool_definitions_hash), definitions)).2 AS tool_definitions,
 (arrayFirst(found -> ((found.1) = context_assembled_hash), definitions)).2 AS context_assembled,
 concat('[', arrayStringConcat(arraySlice(messages, 1, length(input_messages)), ','), ']') AS chat_history,
 concat('[', arrayStringConcat(arraySlice(messages, length(input_messages) + 1), ','), ']') AS output
FROM
(
 SELECT
  content_project,
  content_scope,
  (stored_hashes, stored_messages, definitions, turns, tools) AS content
 FROM turnspan.call_content
) AS c
ANY RIGHT JOIN
(
 SELECT
  * EXCEPT (system_prompt, tool_definitions, context_assembled),
  toMonday(start_time) AS week,
  system_prompt AS system_prompt_hash,
  tool_definitions AS tool_definitions_hash,
  context_assembled AS context_assembled_hash,
  if(session_id = '', trace_id, session_id) AS message_scope
 FROM turnspan.llm_call
 FINAL
 SETTINGS do_not_merge_across_partitions_select_final = 1
) AS r ON (content_project = r.project) AND (content_scope = r.message_scope)
ORDER BY week ASC;

CREATE OR REPLACE VIEW turnspan.annotation_current ON CLUSTER c
AS SELECT *
FROM turnspan.annotation
FINAL
WHERE (kind != 'preference') AND (((
 SELECT count()
 FROM turnspan.withdrawal
) = 0) OR ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
 SELECT
  project,
  subject_kind,
  kind,
  subject_id,
  annotation_id
 FROM turnspan.annotation_withdrawn
)))
ORDER BY
 startsWith(author, 'passive:') OR startsWith(source, 'machine') ASC,
 created_at DESC,
 written_at DESC,
 annotation_id DESC
LIMIT 1 BY
 project,
 subject_kind,
 subject_id,
 kind
UNION ALL
SELECT *
FROM turnspan.annotation
FINAL
WHERE (kind = 'preference') AND (((
 SELECT count()
 FROM turnspan.withdrawal
) = 0) OR ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
 SELECT
  project,
  subject_kind,
  kind,
  subject_id,
  annotation_id
 FROM turnspan.annotation_withdrawn
)))
ORDER BY
 startsWith(author, 'passive:') OR startsWith(source, 'machine') ASC,
 created_at DESC,
 written_at DESC,
 annotation_id DESC
LIMIT 1 BY
 project,
 subject_kind,
 least(chosen_id, rejected_id),
 greatest(chosen_id, rejected_id);

CREATE OR REPLACE VIEW turnspan.turn_full ON CLUSTER c
AS WITH
 content.1 AS definitions,
 content.2 AS calls,
 content.3 AS tools,
 arrayFilter(call -> ((call.1) = turn_id), calls) AS own_calls,
 arrayElement(own_calls, -1) AS last_call,
 (arrayLast(call -> ((call.8) != toFixedString('', 16)), own_calls)).8 AS context_hash
SELECT
 * EXCEPT (week, message_scope, content, content_project, content_scope),
 last_call.5 AS provider,
 last_call.6 AS model,
 last_call.9 AS response_thoughts,
 (arrayFirst(found -> ((found.1) = (last_call.7)), definitions)).2 AS system_prompt,
 (arrayFirst(found -> ((found.1) = context_hash), definitions)).2 AS context_assembled,
 concat('[', arrayStringConcat(arrayFlatten(arrayMap(call -> JSONExtractArrayRaw(call.10), own_calls)), ','), ']') AS tool_calls,
 concat('[', arrayStringConcat((arrayFilter(tool -> ((tool.1) = turn_id), tools)).6, ','), ']') AS tool_results
FROM
(
 SELECT
  content_project,
  content_scope,
  (definitions, calls, tools) AS content
 FROM turnspan.turn_content
) AS c
ANY RIGHT JOIN
(
 SELECT
  *,
  toMonday(start_time) AS week,
  if(session_id = '', trace_id, session_id) AS message_scope
 FROM turnspan.turn_summary
 FINAL
 SETTINGS do_not_merge_across_partitions_select_final = 1
) AS r ON (content_project = r.project) AND (content_scope = r.message_scope)
ORDER BY week ASC;

CREATE OR REPLACE VIEW turnspan.ephemera_agent_log ON CLUSTER c
AS WITH
 content.1 AS user_hashes,
 content.2 AS user_parts,
 content.3 AS definitions,
 content.4 AS calls,
 content.5 AS comments,
 arrayFilter(call -> ((call.1) = turn_id), calls) AS own_calls,
 arrayElement(own_calls, -1) AS last_call,
 if(is_turn, last_call.7, prompt_hash) AS wanted_prompt,
 if(is_turn, (arrayLast(call -> ((call.8) != toFixedString('', 16)), own_calls)).8, context_hash) AS wanted_context,
 arrayMap(hash -> indexOf(arrayReverse(input_messages), hash), user_hashes) AS from_the_end,
 arrayReduce('argMinIf', user_parts, from_the_end, arrayMap(position -> (position > 0), from_the_end)) AS last_user_parts
SELECT
 id,
 start_time AS timestamp,
 session_id,
 multiIf((NOT is_turn) OR (chat_mode = ''), 'unknown', toString(chat_mode)) AS mode,
 if(is_turn, last_call.5, toString(vendor)) AS provider,
 toString(if(response_model = '', request_model, response_model)) AS model,
 (arrayFirst(definition -> ((definition.1) = wanted_prompt), definitions)).2 AS system_prompt,
 (arrayFirst(definition -> ((definition.1) = wanted_context), definitions)).2 AS context_assembled,
 if(is_turn, user_message, arrayStringConcat(arrayMap(part -> JSONExtractString(part, 'content'), arrayFilter(part -> (JSONExtractString(part, 'type') = 'text'), JSONExtractArrayRaw(last_user_parts))), '\n')) AS user_turn,
 response_text AS response,
 if(is_turn, concat('[', arrayStringConcat(arrayFlatten(arrayMap(call -> JSONExtractArrayRaw(call.10), own_calls)), ','), ']'), asked) AS tool_calls,
 target_page,
 toString(type) AS task_type,
 outcome,
 training_flag,
 (arrayFirst(said -> ((said.1) = subject_id), comments)).2 AS notes,
 input_tokens,
 output_tokens,
 round(duration * 1000, 3) AS duration_ms,
 if(error_message = '', toString(error_type), error_message) AS error,
 turn_id
FROM
(
 SELECT
  content_project,
  content_scope,
  (user_hashes, user_parts, definitions, calls, comments) AS content
 FROM turnspan.log_content
) AS c
ANY RIGHT JOIN
(
 WITH
  ((bitShiftLeft(toUInt256(NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine'))), 255) + bitShiftLeft(toUInt256(toUnixTimestamp64Nano(created_at)), 192)) + bitShiftLeft(toUInt256(toUnixTimestamp64Nano(written_at)), 128)) + reinterpretAsUInt128(reverse(substring(annotation_id, 1, 16))) AS age,
  outcomes AS
  (
   SELECT cityHash64(project, subject_id) + argMax(toUInt8(indexOf(['used', 'modified', 'rejected'], annotation.outcome)), age)
   FROM turnspan.annotation
   WHERE (subject_kind = 'turn') AND (kind = 'outcome') AND (((
    SELECT count()
    FROM turnspan.withdrawal
   ) = 0) OR ((project, subject_kind, subject_id, annotation_id) NOT IN (
    SELECT
     project,
     subject_kind,
     subject_id,
     annotation_id
    FROM turnspan.annotation_withdrawn
    WHERE kind = 'outcome'
   )))
   GROUP BY cityHash64(project, subject_id)
   SETTINGS final = 0
  ),
  flags AS
  (
   SELECT cityHash64(project, subject_id) + argMax(toUInt8(indexOf([1, -1], annotation.training_flag)), age)
   FROM turnspan.annotation
   WHERE (subject_kind = 'turn') AND (kind = 'training_flag') AND (((
    SELECT count()
    FROM turnspan.withdrawal
   ) = 0) OR ((project, subject_kind, subject_id, annotation_id) NOT IN (
    SELECT
     project,
     subject_kind,
     subject_id,
     annotation_id
    FROM turnspan.annotation_withdrawn
    WHERE kind = 'training_flag'
   )))
   GROUP BY cityHash64(project, subject_id)
   SETTINGS final = 0
  )
 SELECT
  true AS is_turn,
  project,
  session_id,
  toMonday(start_time) AS week,
  start_time,
  toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
  turn_id,
  turn_id AS subject_id,
  cityHash64(project, subject_id) AS judged_id,
  multiIf(((judged_id + 1) IN (outcomes)), 'used', ((judged_id + 2) IN (outcomes)), 'modified', ((judged_id + 3) IN (outcomes)), 'rejected', 'pending') AS outcome,
  multiIf(((judged_id + 1) IN (flags)), 1, ((judged_id + 2) IN (flags)), -1, 0) AS training_flag,
  if(session_id = '', trace_id, session_id) AS message_scope,
  chat_mode,
  toLowCardinality('') AS vendor,
  arrayElement(models, 1) AS request_model,
  toLowCardinality('') AS response_model,
  toFixedString('', 16) AS prompt_hash,
  toFixedString('', 16) AS context_hash,
  [] AS input_messages,
  user_message,
  response_text,
  '' AS asked,
  target AS target_page,
  task_type AS type,
  input_tokens,
  output_tokens,
  duration,
  error_type,
  error_message
 FROM turnspan.turn_summary
 FINAL
 WHERE parent_turn_id = ''
 SETTINGS do_not_merge_across_partitions_select_final = 1
 UNION ALL
 WITH
  ((bitShiftLeft(toUInt256(NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine'))), 255) + bitShiftLeft(toUInt256(toUnixTimestamp64Nano(created_at)), 192)) + bitShiftLeft(toUInt256(toUnixTimestamp64Nano(written_at)), 128)) + reinterpretAsUInt128(reverse(substring(annotation_id, 1, 16))) AS age,
  outcomes AS
  (
   SELECT cityHash64(project, subject_id) + argMax(toUInt8(indexOf(['used', 'modified', 'rejected'], annotation.outcome)), age)
   FROM turnspan.annotation
   WHERE (subject_kind IN ('call', 'llm_call')) AND (kind = 'outcome') AND (((
    SELECT count()
    FROM turnspan.withdrawal
   ) = 0) OR ((project, subject_kind, subject_id, annotation_id) NOT IN (
    SELECT
     project,
     subject_kind,
     subject_id,
     annotation_id
    FROM turnspan.annotation_withdrawn
    WHERE kind = 'outcome'
   )))
   GROUP BY cityHash64(project, subject_id)
   SETTINGS final = 0
  ),
  flags AS
  (
   SELECT cityHash64(project, subject_id) + argMax(toUInt8(indexOf([1, -1], annotation.training_flag)), age)
   FROM turnspan.annotation
   WHERE (subject_kind IN ('call', 'llm_call')) AND (kind = 'training_flag') AND (((
    SELECT count()
    FROM turnspan.withdrawal
   ) = 0) OR ((project, subject_kind, subject_id, annotation_id) NOT IN (
    SELECT
     project,
     subject_kind,
     subject_id,
     annotation_id
    FROM turnspan.annotation_withdrawn
    WHERE kind = 'training_flag'
   )))
   GROUP BY cityHash64(project, subject_id)
   SETTINGS final = 0
  )
 SELECT
  false AS is_turn,
  project,
  session_id,
  toMonday(start_time) AS week,
  start_time,
  toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
  turn_id,
  span_id AS subject_id,
  cityHash64(project, subject_id) AS judged_id,
  multiIf(((judged_id + 1) IN (outcomes)), 'used', ((judged_id + 2) IN (outcomes)), 'modified', ((judged_id + 3) IN (outcomes)), 'rejected', 'pending') AS outcome,
  multiIf(((judged_id + 1) IN (flags)), 1, ((judged_id + 2) IN (flags)), -1, 0) AS training_flag,
  if(session_id = '', trace_id, session_id) AS message_scope,
  toLowCardinality('') AS chat_mode,
  provider AS vendor,
  request_model,
  response_model,
  system_prompt AS prompt_hash,
  context_assembled AS context_hash,
  input_messages,
  '' AS user_message,
  response_text,
  tool_calls AS asked,
  '' AS target_page,
  toLowCardinality('') AS type,
  input_tokens,
  output_tokens,
  duration,
  error_type,
  error_message
 FROM turnspan.llm_call
 FINAL
 WHERE turn_id IN ('')
 SETTINGS do_not_merge_across_partitions_select_final = 1
) AS r ON (content_project = r.project) AND (content_scope = r.message_scope)
ORDER BY week ASC;

CREATE OR REPLACE VIEW turnspan.agent_telemetry ON CLUSTER c
AS WITH
 content.1 AS stored_hashes,
 content.2 AS stored_messages,
 content.3 AS definitions,
 content.4 AS turns,
 content.5 AS tools,
 arraySort(arrayZip(arrayConcat(stored_hashes, input_messages), arrayConcat(arrayWithConstant(length(stored_hashes), toUInt32(0)), arrayEnumerate(input_messages)), arrayConcat(stored_messages, arrayWithConstant(length(input_messages), '')))) AS merged,
 arrayPopBack(arrayPushFront(merged.1, toFixedString('', 16))) AS hashes_before,
 arrayFill((message, hash, before, position) -> ((position = 0) OR (hash != before)), merged.3, merged.1, hashes_before, merged.2) AS filled,
 arraySort((message, position) -> position, arrayFilter((message, position) -> (position > 0), filled, merged.2), arrayFilter(position -> (position > 0), merged.2)) AS found,
 arrayMap((message, hash) -> if(message != '', message, concat('{"role":"unknown","parts":[],"missing":"', lower(hex(hash)), '"}')), found, input_messages) AS history,
 arrayLast(message -> (JSONExtractString(message, 'role') = 'user'), history) AS last_user_message,
 arrayFirst(turn -> ((turn.1) = turn_of_call), turns) AS own_turn,
 arrayFilter(tool -> ((turn_of_call != '') AND ((tool.1) = turn_of_call) AND ((tool.5) = rounds)), tools) AS executed
SELECT
 id,
 created_at,
 record_type,
 toString(project) AS project_id,
 session_id,
 turn_id,
 multiIf(NOT is_call, user_message, (own_turn.1) != '', own_turn.3, arrayStringConcat(arrayMap(part -> JSONExtractString(part, 'content'), arrayFilter(part -> (JSONExtractString(part, 'type') = 'text'), JSONExtractArrayRaw(last_user_message, 'parts'))), '\n')) AS user_message,
 (arrayFirst(definition -> ((definition.1) = system_prompt_hash), definitions)).2 AS system_prompt,
 if(is_call, concat('[', arrayStringConcat(history, ','), ']'), '') AS chat_history,
 response_text,
 response_thoughts,
 tool_calls,
 concat('[', arrayStringConcat(executed.6, ','), ']') AS tool_results,
 toString(if(response_model = '', request_model, response_model)) AS model_used,
 toString(vendor) AS provider,
 if(is_call AND (intent = ''), own_turn.4, toString(intent)) AS turn_intent,
 if((if(is_call AND (mode = ''), own_turn.5, toString(mode)) AS known_mode) = '', 'unknown', known_mode) AS chat_mode,
 input_tokens AS prompt_tokens,
 output_tokens AS completion_tokens,
 if(isNull(input_tokens) AND isNull(output_tokens), NULL, ifNull(input_tokens, 0) + ifNull(output_tokens, 0)) AS total_tokens,
 round(duration * 1000, 3) AS duration_ms,
 stop_reason,
 stop_detail,
 rounds,
 llm_call_count,
 if(is_call, toUInt32(JSONLength(tool_calls)), tools_called) AS tool_call_count,
 if(is_call, toUInt32(arrayCount(executed.7)), turn_tool_errors) AS tool_error_count,
 if(is_call, own_turn.7, turn_target) AS target,
 if(is_call, own_turn.6, toString(type)) AS task_type,
 cost_usd,
 if(error_message = '', toString(error_type), error_message) AS error
FROM
(
 SELECT
  content_project,
  content_scope,
  (stored_hashes, stored_messages, definitions, turns, tools) AS content
 FROM turnspan.call_content
) AS c
ANY RIGHT JOIN
(
 SELECT
  true AS is_call,
  'llm_call' AS record_type,
  span_id AS id,
  addNanoseconds(start_time, toInt64(duration * 1000000000.)) AS created_at,
  project,
  session_id,
  toMonday(start_time) AS week,
  start_time,
  duration,
  turn_id,
  turn_id AS turn_of_call,
  if(session_id = '', trace_id, session_id) AS message_scope,
  '' AS user_message,
  system_prompt AS system_prompt_hash,
  input_messages,
  response_text,
  response_thoughts,
  tool_calls,
  request_model,
  response_model,
  provider AS vendor,
  said_intent AS intent,
  said_mode AS mode,
  toLowCardinality('') AS type,
  '' AS turn_target,
  input_tokens,
  output_tokens,
  arrayStringConcat(finish_reasons, ',') AS stop_reason,
  '' AS stop_detail,
  round AS rounds,
  toUInt32(1) AS llm_call_count,
  toUInt32(0) AS tools_called,
  toUInt32(0) AS turn_tool_errors,
  cost_usd,
  error_type,
  error_message
 FROM turnspan.llm_call
 FINAL
 SETTINGS do_not_merge_across_partitions_select_final = 1
 UNION ALL
 SELECT
  false AS is_call,
  'turn_summary' AS record_type,
  span_id AS id,
  addNanoseconds(start_time, toInt64(duration * 1000000000.)) AS created_at,
  project,
  session_id,
  toMonday(start_time) AS week,
  start_time,
  duration,
  turn_id,
  '' AS turn_of_call,
  '' AS message_scope,
  user_message,
  toFixedString('', 16) AS system_prompt_hash,
  [] AS input_messages,
  response_text,
  '' AS response_thoughts,
  '[]' AS tool_calls,
  arrayElement(models, 1) AS request_model,
  toLowCardinality('') AS response_model,
  toLowCardinality('') AS vendor,
  turn_intent AS intent,
  chat_mode AS mode,
  task_type AS type,
  target AS turn_target,
  input_tokens,
  output_tokens,
  toString(stop_reason) AS stop_reason,
  stop_detail,
  rounds,
  llm_call_count,
  tool_call_count AS tools_called,
  tool_error_count AS turn_tool_errors,
  cost_usd,
  error_type,
  error_message
 FROM turnspan.turn_summary
 FINAL
 WHERE parent_turn_id = ''
 SETTINGS do_not_merge_across_partitions_select_final = 1
 UNION ALL
 SELECT
  false AS is_call,
  'subagent_summary' AS record_type,
  span_id AS id,
  addNanoseconds(start_time, toInt64(duration * 1000000000.)) AS created_at,
  project,
  session_id,
  toMonday(start_time) AS week,
  start_time,
  duration,
  turn_id,
  '' AS turn_of_call,
  '' AS message_scope,
  user_message,
  toFixedString('', 16) AS system_prompt_hash,
  [] AS input_messages,
  response_text,
  '' AS response_thoughts,
  '[]' AS tool_calls,
  arrayElement(models, 1) AS request_model,
  toLowCardinality('') AS response_model,
  toLowCardinality('') AS vendor,
  turn_intent AS intent,
  chat_mode AS mode,
  task_type AS type,
  target AS turn_target,
  input_tokens,
  output_tokens,
  toString(stop_reason) AS stop_reason,
  stop_detail,
  rounds,
  llm_call_count,
  tool_call_count AS tools_called,
  tool_error_count AS turn_tool_errors,
  cost_usd,
  error_type,
  error_message
 FROM turnspan.turn_summary
 FINAL
 WHERE parent_turn_id > ''
 SETTINGS do_not_merge_across_partitions_select_final = 1
) AS r ON (content_project = r.project) AND (content_scope = r.message_scope)
ORDER BY week ASC;

CREATE OR REPLACE VIEW turnspan.lineage_current ON CLUSTER c
AS SELECT
 project,
 max(of_experiment) AS experiment_id,
 lineage_id,
 max(called) AS label,
 argMaxIf(said, at, what = 'strategy') AS strategy,
 argMaxIf(said, at, what = 'directive') AS directive,
 arrayMap(one -> (one.2), arraySort(arrayFilter(one -> ((one.1) > maxIf(at, what = 'rollout')), groupArrayIf((at, said), what = 'once')))) AS once,
 argMaxIf(what = 'locked', at, (what IN ('locked', 'unlocked'))) AS locked,
 maxIf(at, (what IN ('locked', 'unlocked'))) AS locked_time,
 maxIf(cycle, what = 'rollout') AS last_cycle,
 maxIf(at, what = 'evolve') > maxIf(at, what = 'rollout') AS evolve
FROM
(
 SELECT
  project,
  experiment_id AS of_experiment,
  lineage_id,
  label AS called,
  '' AS what,
  '' AS said,
  opened_at AS at,
  toUInt32(0) AS cycle
 FROM turnspan.lineage
 FINAL
 UNION ALL
 SELECT
  project,
  '',
  lineage_id,
  '',
  toString(kind),
  text,
  created_at,
  0
 FROM turnspan.lineage_event
 FINAL
 UNION ALL
 SELECT
  project,
  '',
  lineage_id,
  '',
  'rollout',
  '',
  started_at,
  rollout.cycle
 FROM turnspan.rollout
 FINAL
)
GROUP BY
 project,
 lineage_id;

CREATE OR REPLACE VIEW turnspan.rollout_current ON CLUSTER c
AS SELECT
 project,
 lineage_id,
 rollout_id,
 max(of_cycle) AS cycle,
 max(said_task) AS task,
 if(max(said_version) = '', max(tried_version), max(said_version)) AS version_id,
 min(begun) AS started_at,
 max(said_duration) AS duration,
 arraySort(groupArrayIf((begun, attempt, state), attempt != '')) AS tried,
 arrayMap(one -> (one.2), tried) AS attempts,
 multiIf(max(named) != '', max(named), arrayExists(one -> ((one.3) = 'succeeded'), tried), (arrayLast(one -> ((one.3) = 'succeeded'), tried)).2, empty(tried), '', (tried[-1]).2) AS final_attempt_id,
 if(max(said_state) != '', max(said_state), (arrayFirst(one -> ((one.2) = final_attempt_id), tried)).3) AS status,
 max(failed_with) AS error_type
FROM
(
 SELECT
  project,
  lineage_id,
  rollout_id,
  cycle AS of_cycle,
  task AS said_task,
  version_id AS said_version,
  '' AS tried_version,
  started_at AS begun,
  r.duration AS said_duration,
  '' AS attempt,
  '' AS state,
  final_attempt_id AS named,
  toString(r.status) AS said_state,
  toString(r.error_type) AS failed_with
 FROM turnspan.rollout AS r
 FINAL
 UNION ALL
 SELECT
  project,
  lineage_id,
  rollout_id,
  cycle,
  '',
  '',
  version_id,
  started_at,
  0,
  attempt_id,
  toString(a.status),
  '',
  '',
  ''
 FROM turnspan.attempt AS a
 FINAL
)
GROUP BY
 project,
 lineage_id,
 rollout_id;

CREATE OR REPLACE VIEW turnspan.result_score ON CLUSTER c
AS SELECT
 project,
 subject_kind,
 subject_id,
 max(of_lineage) AS lineage_id,
 max(of_rollout) AS rollout_id,
 max(of_attempt) AS attempt_id,
 max(of_version) AS version_id,
 max(of_cycle) AS cycle,
 if(attempt_id = '', subject_id, attempt_id) AS unit,
 arrayJoin(groupArrayIf((said_kind, assumeNotNull(said_score)), isNotNull(said_score))) AS judged,
 judged.1 AS kind,
 judged.2 AS score
FROM
(
 SELECT
  project,
  'attempt' AS subject_kind,
  attempt_id AS subject_id,
  lineage_id AS of_lineage,
  rollout_id AS of_rollout,
  attempt_id AS of_attempt,
  version_id AS of_version,
  attempt.cycle AS of_cycle,
  '' AS said_kind,
  CAST(NULL, 'Nullable(Float64)') AS said_score
 FROM turnspan.attempt
 FINAL
 UNION ALL
 SELECT
  project,
  'artifact',
  artifact_id,
  lineage_id,
  rollout_id,
  attempt_id,
  version_id,
  ifNull(artifact.cycle, 0),
  '',
  NULL
 FROM turnspan.artifact
 FINAL
 UNION ALL
 SELECT
  project,
  toString(subject_kind),
  subject_id,
  '',
  '',
  '',
  '',
  0,
  toString(kind),
  score
 FROM turnspan.annotation_current
 WHERE (subject_kind IN ('attempt', 'artifact')) AND isNotNull(score) AND ((kind = 'score') OR startsWith(kind, 'evaluation:'))
)
GROUP BY
 project,
 subject_kind,
 subject_id;

CREATE OR REPLACE VIEW turnspan.evolution_outcome ON CLUSTER c
AS WITH
 counted AS
 (
  SELECT
   project,
   lineage_id,
   version_id,
   kind,
   avg(unit_score) AS mean,
   count() AS judged
  FROM
  (
   SELECT
    s.project AS project,
    s.lineage_id AS lineage_id,
    s.version_id AS version_id,
    s.kind AS kind,
    s.unit AS unit,
    avg(s.score) AS unit_score
   FROM
   (
    SELECT *
    FROM turnspan.result_score
   ) AS s
   LEFT JOIN
   (
    SELECT
     project,
     rollout_id,
     final_attempt_id
    FROM turnspan.rollout_current
   ) AS r ON (r.project = s.project) AND (r.rollout_id = s.rollout_id)
   WHERE (s.attempt_id = '') OR (r.final_attempt_id IN ('', s.attempt_id))
   GROUP BY
    project,
    lineage_id,
    version_id,
    kind,
    unit
  )
  GROUP BY
   project,
   lineage_id,
   version_id,
   kind
 ),
 scored AS
 (
  SELECT
   project,
   lineage_id,
   version_id,
   mapFromArrays(groupArray(kind), groupArray(mean)) AS scores,
   max(judged) AS units
  FROM counted
  GROUP BY
   project,
   lineage_id,
   version_id
 )
SELECT
 e.project AS project,
 e.lineage_id AS lineage_id,
 e.evolution_id AS evolution_id,
 e.from_version AS from_version,
 e.to_version AS to_version,
 e.trigger AS trigger,
 e.hypothesis AS hypothesis,
 e.plan AS plan,
 e.changes AS changes,
 e.author AS author,
 e.created_at AS created_at,
 before.units AS from_judged,
 after.units AS to_judged,
 arrayFilter(kind -> mapContains(after.scores, kind), mapKeys(before.scores)) AS common,
 if(has(common, 'score'), ['score'], common) AS compared,
 if(empty(compared), NULL, arrayAvg(kind -> (before.scores[kind]), compared)) AS from_score,
 if(empty(compared), NULL, arrayAvg(kind -> (after.scores[kind]), compared)) AS next_score,
 next_score - from_score AS score_delta,
 score_delta > 0 AS hypothesis_validated
FROM
(
 SELECT *
 FROM turnspan.evolution
 FINAL
) AS e
LEFT JOIN scored AS before ON (before.project = e.project) AND (before.lineage_id = e.lineage_id) AND (before.version_id = e.from_version)
LEFT JOIN scored AS after ON (after.project = e.project) AND (after.lineage_id = e.lineage_id) AND (after.version_id = e.to_version);

CREATE OR REPLACE VIEW turnspan.consortium_run ON CLUSTER c
AS WITH
 arraySort(groupArrayIf((block_iteration, block_start, block_id), kind = 'arbiter')) AS deciding,
 arrayMap(one -> (one.3), arrayFilter((one, after) -> ((one.1) != after), deciding, arrayShiftLeft(arrayMap(one -> toInt64(one.1), deciding), 1, toInt64(-1)))) AS arbiters,
 groupArrayIf((block_id, block_ranking), kind = 'arbiter') AS rankings,
 arrayFilter(ranking -> notEmpty(ranking), arrayMap(id -> ((arrayFirst(one -> ((one.1) = id), rankings)).2), arbiters)) AS ranked,
 groupArrayIf((block_id, (block_confidence, block_model)), kind = 'arbiter') AS opinions,
 max(block_iteration) > 0 AS numbered,
 maxIf(block_iteration, kind = 'member') AS last_iteration,
 trimBoth(block_answer, ' \t\r\n') AS trimmed,
 groupArrayIf((block_iteration, concat('   ', substring(trimmed, 1, 32000), '   ')), (kind = 'member') AND (trimmed != '')) AS answered,
 arraySort(arrayMap(one -> (one.2), arrayFilter(one -> ((one.1) = last_iteration), answered))) AS compared
SELECT
 project,
 consortium_id,
 max(run_name) AS name,
 max(run_strategy) AS strategy,
 max(run_status) AS status,
 max(run_source) AS source,
 min(block_start) AS started_at,
 max(run_duration) AS duration,
 max(run_session) AS session_id,
 max(run_turn) AS turn_id,
 max(run_trace) AS trace_id,
 max(run_outer) AS outer_id,
 greatest(max(run_iterations), max(block_iteration)) AS iterations,
 arraySort(if(numbered, groupUniqArrayIf(block_label, (kind = 'member') AND (NOT block_unplaced)), groupUniqArrayIf(block_label, kind = 'member'))) AS members,
 if(numbered, countIf((kind = 'member') AND (NOT block_unplaced)), countIf(kind = 'member')) AS answers,
 if(numbered, countIf((kind = 'member') AND block_failed AND (NOT block_unplaced)), countIf((kind = 'member') AND block_failed)) AS failed_answers,
 if(empty(arbiters), '', ((arrayFirst(one -> ((one.1) = (arbiters[-1])), opinions)).2).2) AS arbiter,
 if(empty(ranked), '', (ranked[-1])[1]) AS winner,
 if(empty(ranked), [], ranked[-1]) AS ranking,
 arrayMap(id -> (((arrayFirst(one -> ((one.1) = id), opinions)).2).1), arbiters) AS confidences,
 if(empty(confidences), NULL, confidences[-1]) AS confidence,
 sum(block_calls) AS calls,
 sum(block_input) AS input_tokens,
 sum(block_output) AS output_tokens,
 sum(block_cost) AS cost_usd,
 sum(block_unpriced) AS unpriced,
 if(numbered, argMaxIf(block_label, block_seconds, (kind = 'member') AND (NOT block_unplaced)), argMaxIf(block_label, block_seconds, kind = 'member')) AS longest_member,
 if(numbered, maxIf(block_seconds, (kind = 'member') AND (NOT block_unplaced)), maxIf(block_seconds, kind = 'member')) AS longest_member_seconds,
 toUInt32(length(compared)) AS compared_answers,
 if(length(compared) < 2, NULL, arrayAvg(arrayFlatten(arrayMap((text, place) -> arrayMap(other -> (1 - ngramDistance(text, other)), arraySlice(compared, place + 1)), compared, arrayEnumerate(compared))))) AS agreement,
 max(run_error) AS error_type
FROM
(
 SELECT
  project,
  consortium_id,
  block AS block_id,
  multiIf(block = '', 'run', max(is_member), 'member', max(is_arbiter), 'arbiter', 'other') AS kind,
  max(of_iteration) AS block_iteration,
  min(at) AS block_start,
  if(max(of_model) = '', argMaxIf(asked, at, is_call), max(of_model)) AS block_model,
  if(max(label) = '', block_model, max(label)) AS block_label,
  if(max(said) = '', argMaxIf(replied, at, replied != ''), max(said)) AS block_answer,
  if(max(lasted) = 0, sum(call_lasted), max(lasted)) AS block_seconds,
  max(failed) AS block_failed,
  max(unplaced) AND (max(of_iteration) = 0) AS block_unplaced,
  anyIf(decided_ranking, notEmpty(decided_ranking)) AS block_ranking,
  any(decided_confidence) AS block_confidence,
  countIf(is_call) AS block_calls,
  sum(tokens_in) AS block_input,
  sum(tokens_out) AS block_output,
  sum(cost) AS block_cost,
  countIf(is_call AND isNull(cost)) AS block_unpriced,
  max(r_name) AS run_name,
  max(r_strategy) AS run_strategy,
  max(r_status) AS run_status,
  max(r_source) AS run_source,
  max(r_duration) AS run_duration,
  max(r_session) AS run_session,
  max(r_turn) AS run_turn,
  max(r_trace) AS run_trace,
  max(r_outer) AS run_outer,
  max(r_iterations) AS run_iterations,
  max(r_error) AS run_error
 FROM
 (
  SELECT
   project,
   consortium_id,
   '' AS block,
   false AS is_member,
   false AS is_arbiter,
   false AS is_call,
   toUInt32(0) AS of_iteration,
   started_at AS at,
   '' AS of_model,
   '' AS asked,
   '' AS label,
   '' AS said,
   '' AS replied,
   toFloat64(0) AS lasted,
   toFloat64(0) AS call_lasted,
   false AS failed,
   CAST([], 'Array(String)') AS decided_ranking,
   CAST(NULL, 'Nullable(Float64)') AS decided_confidence,
   CAST(NULL, 'Nullable(UInt64)') AS tokens_in,
   CAST(NULL, 'Nullable(UInt64)') AS tokens_out,
   CAST(NULL, 'Nullable(Decimal(18, 12))') AS cost,
   toString(c.name) AS r_name,
   toString(c.strategy) AS r_strategy,
   toString(c.status) AS r_status,
   toString(c.source) AS r_source,
   c.duration AS r_duration,
   c.session_id AS r_session,
   c.turn_id AS r_turn,
   c.trace_id AS r_trace,
   c.outer_id AS r_outer,
   c.iterations AS r_iterations,
   toString(c.error_type) AS r_error,
   false AS unplaced
  FROM turnspan.consortium AS c
  FINAL
  UNION ALL
  SELECT
   project,
   consortium_id,
   member_id,
   true,
   false,
   false,
   iteration,
   started_at,
   toString(model),
   '',
   concat(toString(model), if(instance = '', '', '#'), instance),
   answer,
   '',
   m.duration,
   0,
   error_type != '',
   [],
   NULL,
   NULL,
   NULL,
   NULL,
   '',
   '',
   '',
   '',
   0,
   '',
   '',
   '',
   '',
   0,
   '',
   false
  FROM turnspan.consortium_member AS m
  FINAL
  UNION ALL
  SELECT
   project,
   consortium_id,
   arbiter_id,
   false,
   true,
   false,
   iteration,
   started_at,
   toString(model),
   '',
   '',
   '',
   '',
   i.duration,
   0,
   error_type != '',
   ranking,
   i.confidence,
   NULL,
   NULL,
   NULL,
   '',
   '',
   '',
   '',
   0,
   '',
   '',
   '',
   '',
   0,
   '',
   false
  FROM turnspan.consortium_iteration AS i
  FINAL
  UNION ALL
  SELECT
   project,
   consortium_id,
   if((attributes['turnspan.consortium.member']) = '', span_id, attributes['turnspan.consortium.member']),
   ifNull(consortium_role = 0, false) AND ((attributes['turnspan.consortium.iteration']) != '0'),
   ifNull((consortium_role IN (1, 2)), false),
   true,
   toUInt32OrZero(attributes['turnspan.consortium.iteration']),
   start_time,
   '',
   toString(request_model),
   '',
   '',
   response_text,
   0,
   l.duration,
   false,
   [],
   NULL,
   l.input_tokens,
   l.output_tokens,
   l.cost_usd,
   '',
   '',
   '',
   '',
   0,
   '',
   '',
   '',
   '',
   0,
   '',
   ifNull(consortium_role = 0, false) AND ((attributes['turnspan.consortium.member']) = '')
  FROM turnspan.llm_call AS l
  FINAL
  WHERE (consortium_id != '') AND (start_time IN (
   SELECT start_time
   FROM turnspan.llm_call
   WHERE consortium_id != ''
  ))
  SETTINGS do_not_merge_across_partitions_select_final = 1
 )
 GROUP BY
  project,
  consortium_id,
  block
)
GROUP BY
 project,
 consortium_id;

CREATE OR REPLACE VIEW turnspan.experiment_result ON CLUSTER c
AS SELECT
 a.project AS project,
 l.experiment_id AS experiment_id,
 a.lineage_id AS lineage_id,
 if(v.name = '', l.label, v.name) AS version,
 r.task AS case_id,
 a.cycle AS repetition,
 a.attempt_id AS attempt_id,
 a.status AS status,
 a.error_type AS error_type,
 a.started_at AS started_at,
 a.duration AS duration,
 s.scores AS scores,
 s.labels AS labels
FROM
(
 SELECT *
 FROM turnspan.attempt
 FINAL
) AS a
INNER JOIN
(
 SELECT
  project,
  lineage_id,
  experiment_id,
  label
 FROM turnspan.lineage
 FINAL
) AS l ON (l.project = a.project) AND (l.lineage_id = a.lineage_id)
LEFT JOIN
(
 SELECT
  project,
  rollout_id,
  task
 FROM turnspan.rollout
 FINAL
) AS r ON (r.project = a.project) AND (r.rollout_id = a.rollout_id)
LEFT JOIN
(
 SELECT
  project,
  lineage_id,
  version_id,
  name
 FROM turnspan.agent_version
 FINAL
) AS v ON (v.project = a.project) AND (v.lineage_id = a.lineage_id) AND (v.version_id = a.version_id)
LEFT JOIN
(
 SELECT
  project,
  subject_id,
  mapFromArrays(groupArrayIf(substring(kind, 12), isNotNull(score)), groupArrayIf(assumeNotNull(score), isNotNull(score))) AS scores,
  mapFromArrays(groupArrayIf(substring(kind, 12), outcome != ''), groupArrayIf(toString(outcome), outcome != '')) AS labels
 FROM turnspan.annotation_current
 WHERE (subject_kind = 'attempt') AND startsWith(kind, 'evaluation:')
 GROUP BY
  project,
  subject_id
) AS s ON (s.project = a.project) AND (s.subject_id = a.attempt_id);
