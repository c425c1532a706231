-- What Jaeger reads: the spans with what the models saw and said, rebuilt from the records under the
-- names of the GenAI conventions. A condition on trace_id reaches both sides of the join.
CREATE OR REPLACE VIEW {jaeger}.spans {on_cluster} AS
SELECT
    s.* EXCEPT (str_attributes),
    arrayConcat(s.str_attributes, arrayFilter(one -> one.value != '', said))
        ::Array(Tuple(key String, value String)) AS str_attributes
FROM {jaeger}.bare_spans AS s
LEFT ANY JOIN
(
    SELECT
        trace_id AS said_trace_id,
        span_id AS said_span_id,
        [
            ('gen_ai.input.messages', chat_history),
            ('gen_ai.output.messages', output),
            -- Only what the request gave apart from its messages.
            ('gen_ai.system_instructions', if(
                system_prompt = '' OR startsWith(chat_history, '[{"role":"system"')
                    OR startsWith(chat_history, '[{"role":"developer"'),
                '',
                concat('[{"type":"text","content":', toJSONString(system_prompt), '}]'))),
            ('gen_ai.tool.definitions', tool_definitions)
        ]::Array(Tuple(key String, value String)) AS said
    FROM {database}.llm_call_full
    UNION ALL
    SELECT
        trace_id,
        span_id,
        [
            ('gen_ai.tool.call.arguments', arguments),
            ('gen_ai.tool.call.result', result)
        ]::Array(Tuple(key String, value String))
    FROM {database}.tool_call FINAL
) AS c ON s.trace_id = c.said_trace_id AND s.id = c.said_span_id
