-- The records in the columns of a wiki agent's log: a row per root turn, judgments included, and a
-- row per model call that belongs to no turn.
-- Judgments are sets and not a join: a set that is not asked for is not made, one that is asked for
-- is made once, and rows keep the order in which they lie, so that a LIMIT stops at the first of them
-- (below the union: above it a set would stand between the order and the tables). A set holds the hash
-- of the subject plus a small number that says how it was judged. final = 0 and the newest judgment
-- picked here, as annotation_current picks it: `age` is one number with the order of (whether a person
-- judged, created_at, written_at, annotation_id), which is compared in half the time of a tuple. The
-- count of withdrawals comes first, as in annotation_current, and saves each of the four sets 8 ms.
-- Contents, the ORDER BY and their reasons are those of llm_call_full, the raw columns of the union
-- those of agent_telemetry. turn_id IN (''), since the engine turns = '' into empty(), which the skip
-- indexes do not know; no_turn leaves out every granule without such a call.
CREATE OR REPLACE VIEW {database}.ephemera_agent_log {on_cluster} AS
WITH
    content.1 AS user_hashes,
    content.2 AS user_parts,
    content.3 AS definitions,
    content.4 AS calls,
    content.5 AS comments,
    arrayFilter(call -> call.1 = turn_id, calls) AS own_calls,
    arrayElement(own_calls, -1) AS last_call,
    if(is_turn, last_call.7, prompt_hash) AS wanted_prompt,
    if(is_turn, arrayLast(call -> call.8 != toFixedString('', 16), own_calls).8, context_hash)
        AS wanted_context,
    arrayMap(hash -> indexOf(arrayReverse(input_messages), hash), user_hashes) AS from_the_end,
    arrayReduce(
        'argMinIf', user_parts, from_the_end, arrayMap(position -> position > 0, from_the_end))
        AS last_user_parts
SELECT
    id,
    start_time AS timestamp,
    session_id,
    multiIf(NOT is_turn OR chat_mode = '', 'unknown', toString(chat_mode)) AS mode,
    if(is_turn, last_call.5, toString(vendor)) AS provider,
    toString(if(response_model = '', request_model, response_model)) AS model,
    arrayFirst(definition -> definition.1 = wanted_prompt, definitions).2 AS system_prompt,
    arrayFirst(definition -> definition.1 = wanted_context, definitions).2 AS context_assembled,
    if(is_turn, user_message, arrayStringConcat(arrayMap(
        part -> JSONExtractString(part, 'content'),
        arrayFilter(
            part -> JSONExtractString(part, 'type') = 'text',
            JSONExtractArrayRaw(last_user_parts))), '\n')) AS user_turn,
    response_text AS response,
    if(is_turn, concat('[', arrayStringConcat(
        arrayFlatten(arrayMap(call -> JSONExtractArrayRaw(call.10), own_calls)), ','), ']'), asked)
        AS tool_calls,
    target_page,
    toString(type) AS task_type,
    outcome,
    training_flag,
    arrayFirst(said -> said.1 = subject_id, comments).2 AS notes,
    input_tokens,
    output_tokens,
    round(duration * 1000, 3) AS duration_ms,
    if(error_message = '', toString(error_type), error_message) AS error,
    turn_id
FROM {with_content:log_content(user_hashes, user_parts, definitions, calls, comments)}
(
    WITH
        {piece:judgments|subject_kind = 'turn'}
    SELECT
        true AS is_turn,
        project,
        session_id,
        toMonday(start_time) AS week,
        start_time,
        toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
        turn_id,
        turn_id AS subject_id,
        {piece:judged}
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
    FROM {database}.turn_summary FINAL
    WHERE parent_turn_id = ''
    SETTINGS do_not_merge_across_partitions_select_final = 1
    UNION ALL
    WITH
        {piece:judgments|subject_kind IN ('call', 'llm_call')}
    SELECT
        false AS is_turn,
        project,
        session_id,
        toMonday(start_time) AS week,
        start_time,
        toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
        turn_id,
        span_id AS subject_id,
        {piece:judged}
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
    FROM {database}.llm_call FINAL
    WHERE turn_id IN ('')
    SETTINGS do_not_merge_across_partitions_select_final = 1
)
{end_content}
ORDER BY week
