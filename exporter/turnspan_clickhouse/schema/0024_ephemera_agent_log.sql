-- The records in the columns of a wiki agent's log: a row per root turn, judgments included, and a
-- row per model call that belongs to no turn.
-- Judgments are joined to the rows before everything else, so that a reader may filter by them; the
-- join after it, the ORDER BY and their reasons are those of llm_call_full.
CREATE OR REPLACE VIEW {database}.ephemera_agent_log {on_cluster} AS
WITH
    arrayFilter(call -> call.1 = turn_id, calls) AS own_calls,
    arrayElement(own_calls, -1) AS last_call,
    if(is_turn, last_call.7, prompt_hash) AS wanted_prompt,
    if(is_turn, arrayLast(call -> call.8 != toFixedString('', 16), own_calls).8, context_hash)
        AS wanted_context,
    arrayMap(hash -> indexOf(arrayReverse(input_messages), hash), stored_hashes) AS from_the_end,
    arrayReduce('argMinIf', stored_messages, from_the_end, arrayMap(
        (message, position) -> position > 0 AND JSONExtractString(message, 'role') = 'user',
        stored_messages, from_the_end)) AS last_user_message
SELECT
    id,
    start_time AS timestamp,
    session_id,
    mode,
    if(is_turn, last_call.5, known_provider) AS provider,
    model,
    arrayFirst(definition -> definition.1 = wanted_prompt, definitions).2 AS system_prompt,
    arrayFirst(definition -> definition.1 = wanted_context, definitions).2 AS context_assembled,
    if(is_turn, user_message, arrayStringConcat(arrayMap(
        part -> JSONExtractString(part, 'content'),
        arrayFilter(
            part -> JSONExtractString(part, 'type') = 'text',
            JSONExtractArrayRaw(last_user_message, 'parts'))), '\n')) AS user_turn,
    response_text AS response,
    if(is_turn, concat('[', arrayStringConcat(
        arrayFlatten(arrayMap(call -> JSONExtractArrayRaw(call.10), own_calls)), ','), ']'), asked)
        AS tool_calls,
    target_page,
    type AS task_type,
    outcome,
    training_flag,
    notes,
    input_tokens,
    output_tokens,
    duration_ms,
    error,
    turn_id
FROM {database}.session_content
ANY RIGHT JOIN
(
    SELECT
        * EXCEPT (j_project, j_subject, j_subject_id, judged_outcome, judged_flag, judged_notes),
        if(judged_outcome = '', 'pending', judged_outcome) AS outcome,
        ifNull(judged_flag, 0) AS training_flag,
        judged_notes AS notes
    FROM
    (
        SELECT
            true AS is_turn,
            project,
            session_id,
            start_time,
            toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
            turn_id,
            turn_id AS subject_id,
            if(session_id = '', trace_id, session_id) AS message_scope,
            toString(if(chat_mode = '', 'unknown', chat_mode)) AS mode,
            '' AS known_provider,
            toString(arrayElement(models, 1)) AS model,
            toFixedString('', 16) AS prompt_hash,
            toFixedString('', 16) AS context_hash,
            [] AS input_messages,
            user_message,
            response_text,
            '' AS asked,
            target AS target_page,
            toString(turn_summary.task_type) AS type,
            input_tokens,
            output_tokens,
            round(duration * 1000, 3) AS duration_ms,
            if(error_message = '', toString(error_type), error_message) AS error
        FROM {database}.turn_summary FINAL
        WHERE parent_turn_id = ''
        SETTINGS do_not_merge_across_partitions_select_final = 1
        UNION ALL
        SELECT
            false AS is_turn,
            project,
            session_id,
            start_time,
            toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
            turn_id,
            span_id AS subject_id,
            if(session_id = '', trace_id, session_id) AS message_scope,
            'unknown' AS mode,
            toString(provider) AS known_provider,
            toString(if(response_model = '', request_model, response_model)) AS model,
            system_prompt AS prompt_hash,
            context_assembled AS context_hash,
            input_messages,
            '' AS user_message,
            response_text,
            tool_calls AS asked,
            '' AS target_page,
            '' AS type,
            input_tokens,
            output_tokens,
            round(duration * 1000, 3) AS duration_ms,
            if(error_message = '', toString(error_type), error_message) AS error
        FROM {database}.llm_call FINAL
        WHERE turn_id = ''
        SETTINGS do_not_merge_across_partitions_select_final = 1
    ) AS r
    LEFT ANY JOIN
    (
        SELECT
            project AS j_project,
            subject_kind = 'turn' AS j_subject,
            subject_id AS j_subject_id,
            argMaxIf(toString(annotation.outcome), written, kind = 'outcome') AS judged_outcome,
            argMaxIf(annotation.training_flag, written, kind = 'training_flag') AS judged_flag,
            argMaxIf(comment, written, kind = 'comment') AS judged_notes
        FROM
        (
            SELECT *, (created_at, written_at, annotation_id) AS written
            FROM {database}.annotation
            WHERE subject_kind IN ('turn', 'call', 'llm_call')
        ) AS annotation
        GROUP BY j_project, j_subject, j_subject_id
        SETTINGS final = 0
    ) AS j ON j_project = r.project AND j_subject = r.is_turn AND j_subject_id = r.subject_id
) AS r ON content_project = r.project AND content_scope = r.message_scope
ORDER BY project, session_id, start_time
