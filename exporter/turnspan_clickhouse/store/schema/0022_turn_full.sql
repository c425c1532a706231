-- One row per turn with what its own model calls and tools say about it together: the last call's
-- provider, model, prompt and thoughts, and every tool call and tool result in order.
-- The content and the ORDER BY are there for the reasons given in llm_call_full.
CREATE OR REPLACE VIEW {database}.turn_full {on_cluster} AS
WITH
    content.1 AS definitions,
    content.2 AS calls,
    content.3 AS tools,
    arrayFilter(call -> call.1 = turn_id, calls) AS own_calls,
    arrayElement(own_calls, -1) AS last_call,
    arrayLast(call -> call.8 != toFixedString('', 16), own_calls).8 AS context_hash
SELECT
    * EXCEPT (week, message_scope, content, content_project, content_scope),
    last_call.5 AS provider,
    last_call.6 AS model,
    last_call.9 AS response_thoughts,
    arrayFirst(found -> found.1 = last_call.7, definitions).2 AS system_prompt,
    arrayFirst(found -> found.1 = context_hash, definitions).2 AS context_assembled,
    concat('[', arrayStringConcat(
        arrayFlatten(arrayMap(call -> JSONExtractArrayRaw(call.10), own_calls)), ','), ']')
        AS tool_calls,
    concat('[', arrayStringConcat(
        arrayFilter(tool -> tool.1 = turn_id, tools).6, ','), ']') AS tool_results
FROM {with_content:turn_content(definitions, calls, tools)}
(
    SELECT *, toMonday(start_time) AS week, if(session_id = '', trace_id, session_id) AS message_scope
    FROM {database}.turn_summary FINAL
    SETTINGS do_not_merge_across_partitions_select_final = 1
)
{end_content}
ORDER BY week
