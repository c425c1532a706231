-- One row per model call, with everything the model saw and said rebuilt from what is stored once,
-- what its turn says about it, and the results of the tools that its round executed.
--
-- Why `content` is a correlated subquery (the macro with_content): the engine makes of it a RIGHT ANY JOIN
-- with the calls on the right, so that its hash table holds the calls that the reader's WHERE and
-- LIMIT left over, and of the other tables only what lies under their sessions is read; and it leaves
-- the subquery out where no column of it is asked for, which it never does with a join. On a cluster
-- the same join is written out.
--
-- Why an ORDER BY in a view: a reader's bare LIMIT is pushed below the join only together with an
-- order; this one is the order the calls lie in. A reader's own ORDER BY takes its place.
--
-- Why one sorted array and no look-up by hash: a lambda that captures a session's messages copies
-- them once for each message. Sorting stored and wanted hashes together puts each wanted one behind
-- its text (position 0), arrayFill carries the text over, and sorting by position restores the order.
CREATE OR REPLACE VIEW {database}.llm_call_full {on_cluster} AS
WITH
    content.1 AS stored_hashes,
    content.2 AS stored_messages,
    content.3 AS definitions,
    content.4 AS turns,
    content.5 AS tools,
    arrayConcat(input_messages, output_messages) AS wanted,
    {piece:messages|wanted|messages}
    arrayFirst(turn -> turn.1 = turn_id, turns) AS own_turn,
    arrayFilter(tool -> turn_id != '' AND tool.1 = turn_id AND tool.5 = round, tools) AS executed
SELECT
    * EXCEPT (week, message_scope, content, content_project, content_scope),
    own_turn.1 != '' AS turn_known,
    own_turn.3 AS turn_user_message,
    own_turn.4 AS turn_intent,
    own_turn.5 AS chat_mode,
    own_turn.6 AS task_type,
    own_turn.7 AS target,
    concat('[', arrayStringConcat(executed.6, ','), ']') AS tool_results,
    toUInt32(arrayCount(executed.7)) AS tool_error_count,
    arrayFirst(found -> found.1 = system_prompt_hash, definitions).2 AS system_prompt,
    arrayFirst(found -> found.1 = tool_definitions_hash, definitions).2 AS tool_definitions,
    arrayFirst(found -> found.1 = context_assembled_hash, definitions).2 AS context_assembled,
    concat('[', arrayStringConcat(arraySlice(messages, 1, length(input_messages)), ','), ']')
        AS chat_history,
    concat('[', arrayStringConcat(arraySlice(messages, length(input_messages) + 1), ','), ']')
        AS output
FROM {with_content:call_content(stored_hashes, stored_messages, definitions, turns, tools)}
(
    SELECT
        * EXCEPT (system_prompt, tool_definitions, context_assembled),
        toMonday(start_time) AS week,
        system_prompt AS system_prompt_hash,
        tool_definitions AS tool_definitions_hash,
        context_assembled AS context_assembled_hash,
        if(session_id = '', trace_id, session_id) AS message_scope
    FROM {database}.llm_call FINAL
    SETTINGS do_not_merge_across_partitions_select_final = 1
)
{end_content}
ORDER BY week
