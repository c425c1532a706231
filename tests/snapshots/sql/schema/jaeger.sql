CREATE OR REPLACE VIEW turnspan_jaeger.attribute_type
AS SELECT
 attribute_key,
 type
FROM
(
 SELECT
  arrayJoin(arrayConcat(arrayMap(key -> (key, 'int'), ['gen_ai.embeddings.dimension.count', 'gen_ai.memory.record.count', 'gen_ai.request.choice.count', 'gen_ai.request.max_tokens', 'gen_ai.request.seed', 'gen_ai.request.top_k', 'gen_ai.retrieval.top_k', 'gen_ai.usage.audio.cache_read.input_tokens', 'gen_ai.usage.audio.input_tokens', 'gen_ai.usage.audio.output_tokens', 'gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_write.input_tokens', 'gen_ai.usage.image.cache_read.input_tokens', 'gen_ai.usage.image.input_tokens', 'gen_ai.usage.image.output_tokens', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.text.cache_read.input_tokens', 'gen_ai.usage.text.input_tokens', 'gen_ai.usage.text.output_tokens', 'http.request.resend_count', 'http.response.status_code', 'server.port', 'turnspan.completed.cache_read.input_tokens', 'turnspan.completed.cache_write.input_tokens', 'turnspan.completed.input_tokens', 'turnspan.completed.output_tokens', 'turnspan.completed.reasoning.output_tokens', 'turnspan.consortium.iteration', 'turnspan.consortium.iterations', 'turnspan.consortium.role', 'turnspan.request.tries', 'turnspan.round', 'turnspan.turn.llm_calls', 'turnspan.turn.max_identical_tool_streak', 'turnspan.turn.max_rounds', 'turnspan.turn.no_progress_rounds', 'turnspan.turn.rounds', 'turnspan.turn.silent_rounds', 'turnspan.turn.tool_calls', 'turnspan.turn.tool_errors', 'turnspan.usage.cache_write_1h.input_tokens', 'turnspan.usage.file_searches', 'turnspan.usage.image_generations', 'turnspan.usage.map_searches', 'turnspan.usage.tool.input_tokens', 'turnspan.usage.video.cache_read.input_tokens', 'turnspan.usage.video.input_tokens', 'turnspan.usage.video.output_tokens', 'turnspan.usage.web_searches']), arrayMap(key -> (key, 'double'), ['gen_ai.evaluation.score.value', 'gen_ai.request.frequency_penalty', 'gen_ai.request.presence_penalty', 'gen_ai.request.temperature', 'gen_ai.request.top_p', 'gen_ai.response.time_to_first_chunk', 'turnspan.consortium.confidence', 'turnspan.usage.cost']), arrayMap(key -> (key, 'bool'), ['gen_ai.conversation.compacted', 'gen_ai.request.stream', 'turnspan.response.cached', 'turnspan.tool.failed', 'turnspan.usage.estimated']))) AS known,
  known.1 AS attribute_key,
  known.2 AS type
);

CREATE OR REPLACE VIEW turnspan_jaeger.bare_spans
AS WITH
 (
  SELECT groupArray(attribute_key)
  FROM turnspan_jaeger.attribute_type
 ) AS typed_keys,
 (
  SELECT groupArray(type)
  FROM turnspan_jaeger.attribute_type
 ) AS types,
 arrayMap((key, value, type) -> (key, value, multiIf(type = 'str', 'str', (type = 'int') AND isNotNull(toInt64OrNull(value)), 'int', (type = 'double') AND isNotNull(toFloat64OrNull(value)), 'double', (type = 'bool') AND (value IN ('true', 'false')), 'bool', 'str')), CAST(mapKeys(attributes), 'Array(String)') AS keys, mapValues(attributes), arrayMap(key -> transform(key, typed_keys, types, 'str'), keys)) AS typed,
 arrayMap(event -> (JSONExtractString(event, 'name'), fromUnixTimestamp64Nano(JSONExtractInt(event, 'time'), 'UTC'), arrayMap(one -> (one.1, if(startsWith(one.2, '"'), JSONExtractString(one.2), one.2)), JSONExtractKeysAndValuesRaw(event, 'attributes'))), JSONExtractArrayRaw(events)) AS happened
SELECT
 span_id AS id,
 trace_id,
 trace_state,
 parent_span_id,
 toString(name) AS name,
 lower(toString(kind)) AS kind,
 start_time,
 transform(toString(status_code), ['OK', 'ERROR'], ['Ok', 'Error'], 'Unset') AS status_code,
 status_message,
 toInt64(round(duration * 1000000000.)) AS duration,
 CAST(arrayMap(one -> (one.1, (one.2) = 'true'), arrayFilter(one -> ((one.3) = 'bool'), typed)), 'Array(Tuple(key String, value Bool))') AS bool_attributes,
 CAST(arrayMap(one -> (one.1, toFloat64OrZero(one.2)), arrayFilter(one -> ((one.3) = 'double'), typed)), 'Array(Tuple(key String, value Float64))') AS double_attributes,
 CAST(arrayMap(one -> (one.1, toInt64OrZero(one.2)), arrayFilter(one -> ((one.3) = 'int'), typed)), 'Array(Tuple(key String, value Int64))') AS int_attributes,
 CAST(arrayMap(one -> (one.1, one.2), arrayFilter(one -> ((one.3) = 'str'), typed)), 'Array(Tuple(key String, value String))') AS str_attributes,
 CAST('[]', 'Array(Tuple(key String, value String))') AS complex_attributes,
 CAST(arrayMap(event -> (event.1, event.2, [], [], [], event.3, []), happened), 'Array(Tuple(name String, timestamp DateTime64(9, \'UTC\'), bool_attributes Array(Tuple(key String, value Bool)), double_attributes Array(Tuple(key String, value Float64)), int_attributes Array(Tuple(key String, value Int64)), str_attributes Array(Tuple(key String, value String)), complex_attributes Array(Tuple(key String, value String))))') AS events,
 CAST(arrayMap(link -> (JSONExtractString(link, 'trace_id'), JSONExtractString(link, 'span_id'), '', [], [], [], [], []), JSONExtractArrayRaw(links)), 'Array(Tuple(trace_id String, span_id String, trace_state String, bool_attributes Array(Tuple(key String, value Bool)), double_attributes Array(Tuple(key String, value Float64)), int_attributes Array(Tuple(key String, value Int64)), str_attributes Array(Tuple(key String, value String)), complex_attributes Array(Tuple(key String, value String))))') AS links,
 if(service = '', 'unknown', toString(service)) AS service_name,
 CAST('[]', 'Array(Tuple(key String, value Bool))') AS resource_bool_attributes,
 CAST('[]', 'Array(Tuple(key String, value Float64))') AS resource_double_attributes,
 CAST('[]', 'Array(Tuple(key String, value Int64))') AS resource_int_attributes,
 CAST(arrayMap((key, value) -> (key, value), mapKeys(resource), mapValues(resource)), 'Array(Tuple(key String, value String))') AS resource_str_attributes,
 CAST('[]', 'Array(Tuple(key String, value String))') AS resource_complex_attributes,
 toString(scope_name) AS scope_name,
 toString(scope_version) AS scope_version,
 CAST('[]', 'Array(Tuple(key String, value Bool))') AS scope_bool_attributes,
 CAST('[]', 'Array(Tuple(key String, value Float64))') AS scope_double_attributes,
 CAST('[]', 'Array(Tuple(key String, value Int64))') AS scope_int_attributes,
 CAST('[]', 'Array(Tuple(key String, value String))') AS scope_str_attributes,
 CAST('[]', 'Array(Tuple(key String, value String))') AS scope_complex_attributes
FROM turnspan.span
FINAL;

CREATE OR REPLACE VIEW turnspan_jaeger.spans
AS SELECT *
FROM turnspan_jaeger.bare_spans;

CREATE OR REPLACE VIEW turnspan_jaeger.services
AS SELECT DISTINCT if(service = '', 'unknown', toString(service)) AS name
FROM turnspan.span;

CREATE OR REPLACE VIEW turnspan_jaeger.operations
AS SELECT DISTINCT
 if(service = '', 'unknown', toString(service)) AS service_name,
 toString(name) AS name,
 lower(toString(kind)) AS span_kind
FROM turnspan.span;

CREATE OR REPLACE VIEW turnspan_jaeger.trace_id_timestamps
AS SELECT
 trace_id,
 min(start_time) AS start,
 max(start_time) AS end
FROM turnspan.span
GROUP BY trace_id;

CREATE OR REPLACE VIEW turnspan_jaeger.attribute_metadata
AS SELECT
 attribute_key,
 arrayJoin([type, 'str']) AS type,
 'span' AS level
FROM turnspan_jaeger.attribute_type;

CREATE OR REPLACE VIEW turnspan_jaeger.dependencies
AS SELECT
 timestamp,
 concat('[', arrayStringConcat(groupArray(concat('{"parent":', toJSONString(parent_service), ',"child":', toJSONString(child_service), ',"callCount":', toString(calls), '}')), ','), ']') AS dependencies_json
FROM
(
 SELECT
  toDateTime64(toStartOfHour(child.start_time), 9, 'UTC') AS timestamp,
  if(parent.service = '', 'unknown', toString(parent.service)) AS parent_service,
  if(child.service = '', 'unknown', toString(child.service)) AS child_service,
  uniqExact(child.trace_id, child.span_id) AS calls
 FROM turnspan.span AS child
 INNER JOIN turnspan.span AS parent ON (child.trace_id = parent.trace_id) AND (child.parent_span_id = parent.span_id)
 WHERE child.service != parent.service
 GROUP BY
  timestamp,
  parent_service,
  child_service
)
GROUP BY timestamp;
