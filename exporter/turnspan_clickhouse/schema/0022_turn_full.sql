-- One row per turn with what its own model calls and tools say about it together: the last call's
-- provider, model, prompt and thoughts, and every tool call and tool result in order.
-- The join and the ORDER BY are there for the reasons given in llm_call_full.
CREATE OR REPLACE VIEW {database}.turn_full {on_cluster} AS
WITH
    arrayFilter(call -> call.1 = turn_id, calls) AS own_calls,
    arrayElement(own_calls, -1) AS last_call,
    arrayLast(call -> call.8 != toFixedString('', 16), own_calls).8 AS context_hash
SELECT
    * EXCEPT (
        message_scope, content_project, content_scope, stored_hashes, stored_messages, definitions,
        turns, calls, tools),
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
FROM {database}.session_content
ANY RIGHT JOIN
(
    SELECT *, if(session_id = '', trace_id, session_id) AS message_scope
    FROM {database}.turn_summary FINAL
    SETTINGS do_not_merge_across_partitions_select_final = 1
) AS s ON content_project = s.project AND content_scope = s.message_scope
ORDER BY project, session_id, start_time, turn_id
