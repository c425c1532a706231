CREATE OR REPLACE VIEW turnspan_jaeger.spans
AS SELECT
 s.* EXCEPT str_attributes,
 CAST(arrayConcat(s.str_attributes, arrayFilter(one -> (one.value != ''), said)), 'Array(Tuple(key String, value String))') AS str_attributes
FROM turnspan_jaeger.bare_spans AS s
ANY LEFT JOIN
(
 SELECT
  trace_id AS said_trace_id,
  span_id AS said_span_id,
  CAST([('gen_ai.input.messages', chat_history), ('gen_ai.output.messages', output), ('gen_ai.system_instructions', if((system_prompt = '') OR startsWith(chat_history, '[{"role":"system"') OR startsWith(chat_history, '[{"role":"developer"'), '', concat('[{"type":"text","content":', toJSONString(system_prompt), '}]'))), ('gen_ai.tool.definitions', tool_definitions)], 'Array(Tuple(key String, value String))') AS said
 FROM turnspan.llm_call_full
 UNION ALL
 SELECT
  trace_id,
  span_id,
  CAST([('gen_ai.tool.call.arguments', arguments), ('gen_ai.tool.call.result', result)], 'Array(Tuple(key String, value String))')
 FROM turnspan.tool_call
 FINAL
) AS c ON (s.trace_id = c.said_trace_id) AND (s.id = c.said_span_id);
