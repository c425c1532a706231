-- What turn_full joins to turns: as call_content, for the reasons given there. Elements, by
-- position:
--   definitions   (hash, body)
--   calls         (turn_id, start_time, span_id, written_at, provider, model, system_prompt hash,
--                 context hash, thoughts, tool_calls JSON), in the order of time, each once
--   tools         (turn_id, start_time, span_id, written_at, round, result as JSON), likewise
CREATE OR REPLACE VIEW {database}.turn_content {on_cluster} AS
WITH
    arraySort(call -> (call.2, call.3, call.4), found_calls) AS sorted_calls,
    arraySort(tool -> (tool.2, tool.3, tool.4), found_tools) AS sorted_tools
SELECT
    content_project,
    content_scope,
    arraySort(definition -> definition.1, found_definitions) AS definitions,
    arrayFilter(
        (call, next) -> call.3 != next,
        sorted_calls, arrayPopFront(arrayPushBack(sorted_calls.3, ''))) AS calls,
    arrayFilter(
        (tool, next) -> tool.3 != next,
        sorted_tools, arrayPopFront(arrayPushBack(sorted_tools.3, ''))) AS tools
FROM
(
    SELECT
        content_project,
        content_scope,
        groupArrayIf((hash, text), kind = 2) AS found_definitions,
        groupArrayIf(
            (turn, time, span, written, vendor, model, hash, context, text, asked), kind = 1)
            AS found_calls,
        groupArrayIf((turn, time, span, written, number, text), kind = 3) AS found_tools
    FROM
    (
        SELECT
            {piece:calls},
            toUInt32(0) AS number
        FROM {database}.llm_call
        WHERE session_id != ''
        UNION ALL
        SELECT
            toString(used.project), used.scope, 2, d.hash, d.body, '', '',
            toDateTime64(0, 9, 'UTC'), toDateTime64(0, 9, 'UTC'), '', '', toFixedString('', 16), '',
            toUInt32(0)
        {piece:definitions|system_prompt, context_assembled}
        UNION ALL
        SELECT
            toString(project), trace_id, 1, system_prompt, response_thoughts, turn_id, span_id,
            start_time, written_at, toString(provider),
            toString(if(response_model = '', request_model, response_model)), context_assembled,
            tool_calls, toUInt32(0)
        FROM {database}.llm_call
        WHERE session_id = ''
        UNION ALL
        {piece:tools|session_id|!=|3|'', '', toFixedString('', 16), '', round}
        UNION ALL
        {piece:tools|trace_id|=|3|'', '', toFixedString('', 16), '', round}
    )
    GROUP BY content_project, content_scope
    SETTINGS final = 0
)
