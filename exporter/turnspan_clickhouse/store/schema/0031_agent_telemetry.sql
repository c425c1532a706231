-- The records in the columns of a coding agent's log: a row per model call and a row per turn.
-- created_at is when a row's work was over, so that a turn's summary follows its calls.
--
-- Calls and turns are put together before the one join, so that a reader's ORDER BY with LIMIT is
-- pushed below it; the join, the ORDER BY and the way messages are found are those of llm_call_full.
-- Turns look up no session: the prompt, thoughts, tool calls and results of their rounds stand in the
-- rows of their calls (and together in turn_full); turn_of_call is empty there, so that their ids are
-- read only where they are asked for. Root turns and sub-agents' are read apart, so that
-- a reader's record_type leaves out the other tables; by_parent makes the second reading free where
-- there are no sub-agents. Columns go through the union as they are stored: what is made of them
-- above it is made for the rows that a LIMIT left over.
-- A call that was imported may say its intent and mode itself, whether its turn's row is there or not.
CREATE OR REPLACE VIEW {database}.agent_telemetry {on_cluster} AS
WITH
    content.1 AS stored_hashes,
    content.2 AS stored_messages,
    content.3 AS definitions,
    content.4 AS turns,
    content.5 AS tools,
    {piece:messages|input_messages|history}
    arrayLast(message -> JSONExtractString(message, 'role') = 'user', history) AS last_user_message,
    arrayFirst(turn -> turn.1 = turn_of_call, turns) AS own_turn,
    arrayFilter(tool -> turn_of_call != '' AND tool.1 = turn_of_call AND tool.5 = rounds, tools)
        AS executed
SELECT
    id,
    created_at,
    record_type,
    toString(project) AS project_id,
    session_id,
    turn_id,
    multiIf(
        NOT is_call, user_message,
        own_turn.1 != '', own_turn.3,
        arrayStringConcat(arrayMap(
            part -> JSONExtractString(part, 'content'),
            arrayFilter(
                part -> JSONExtractString(part, 'type') = 'text',
                JSONExtractArrayRaw(last_user_message, 'parts'))), '\n')) AS user_message,
    arrayFirst(definition -> definition.1 = system_prompt_hash, definitions).2 AS system_prompt,
    if(is_call, concat('[', arrayStringConcat(history, ','), ']'), '') AS chat_history,
    response_text,
    response_thoughts,
    tool_calls,
    concat('[', arrayStringConcat(executed.6, ','), ']') AS tool_results,
    toString(if(response_model = '', request_model, response_model)) AS model_used,
    toString(vendor) AS provider,
    if(is_call AND intent = '', own_turn.4, toString(intent)) AS turn_intent,
    if((if(is_call AND mode = '', own_turn.5, toString(mode)) AS known_mode) = '', 'unknown', known_mode)
        AS chat_mode,
    input_tokens AS prompt_tokens,
    output_tokens AS completion_tokens,
    if(isNull(input_tokens) AND isNull(output_tokens), NULL,
        ifNull(input_tokens, 0) + ifNull(output_tokens, 0)) AS total_tokens,
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
FROM {with_content:call_content(stored_hashes, stored_messages, definitions, turns, tools)}
(
    SELECT
        true AS is_call,
        'llm_call' AS record_type,
        span_id AS id,
        addNanoseconds(start_time, toInt64(duration * 1e9)) AS created_at,
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
    FROM {database}.llm_call FINAL
    SETTINGS do_not_merge_across_partitions_select_final = 1
    UNION ALL
    {piece:summaries|turn_summary|=}
    UNION ALL
    {piece:summaries|subagent_summary|>}
)
{end_content}
ORDER BY week
