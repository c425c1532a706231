-- The records in the columns of a wiki agent's log: a row per root turn, judgments included, and a
-- row per model call that belongs to no turn.
CREATE OR REPLACE VIEW {database}.ephemera_agent_log {on_cluster} AS
SELECT
    toUInt64(toUnixTimestamp64Nano(start_time)) AS id,
    start_time AS timestamp,
    session_id,
    mode,
    provider,
    model,
    system_prompt,
    context_assembled,
    user_turn,
    response,
    tool_calls,
    target_page,
    task_type,
    if(judged_outcome = '', 'pending', judged_outcome) AS outcome,
    ifNull(judged_flag, 0) AS training_flag,
    judged_notes AS notes,
    input_tokens,
    output_tokens,
    duration_ms,
    error,
    turn_id
FROM
(
    SELECT
        project AS j_project,
        subject AS j_subject,
        subject_id AS j_subject_id,
        argMaxIf(toString(annotation.outcome), written, kind = 'outcome') AS judged_outcome,
        argMaxIf(annotation.training_flag, written, kind = 'training_flag') AS judged_flag,
        argMaxIf(comment, written, kind = 'comment') AS judged_notes
    FROM
    (
        SELECT
            *,
            if(subject_kind = 'turn', 'turn', 'call') AS subject,
            (created_at, written_at, annotation_id) AS written
        FROM {database}.annotation FINAL
        WHERE subject_kind IN ('turn', 'call', 'llm_call')
    ) AS annotation
    GROUP BY project, subject, subject_id
) AS j
ANY RIGHT JOIN
(
    SELECT
        toString(project) AS project,
        'turn' AS subject,
        turn_id AS subject_id,
        start_time,
        session_id,
        toString(if(chat_mode = '', 'unknown', chat_mode)) AS mode,
        toString(provider) AS provider,
        toString(if(model = '', arrayElement(models, -1), model)) AS model,
        system_prompt,
        context_assembled,
        user_message AS user_turn,
        response_text AS response,
        tool_calls,
        target AS target_page,
        toString(task_type) AS task_type,
        input_tokens,
        output_tokens,
        round(duration * 1000, 3) AS duration_ms,
        if(error_message = '', toString(error_type), error_message) AS error,
        turn_id
    FROM {database}.turn_full
    WHERE parent_turn_id = ''
    UNION ALL
    SELECT
        toString(project) AS project,
        'call' AS subject,
        span_id AS subject_id,
        start_time,
        session_id,
        'unknown' AS mode,
        toString(provider) AS provider,
        toString(if(response_model = '', request_model, response_model)) AS model,
        system_prompt,
        context_assembled,
        arrayStringConcat(arrayMap(
            part -> JSONExtractString(part, 'content'),
            arrayFilter(
                part -> JSONExtractString(part, 'type') = 'text',
                JSONExtractArrayRaw(arrayLast(
                    message -> JSONExtractString(message, 'role') = 'user',
                    JSONExtractArrayRaw(chat_history)), 'parts'))), '\n') AS user_turn,
        response_text AS response,
        tool_calls,
        '' AS target_page,
        '' AS task_type,
        input_tokens,
        output_tokens,
        round(duration * 1000, 3) AS duration_ms,
        if(error_message = '', toString(error_type), error_message) AS error,
        turn_id
    FROM {database}.llm_call_full
    WHERE turn_id NOT IN (SELECT turn_id FROM {database}.turn_summary)
) AS r ON j_project = r.project AND j_subject = r.subject AND j_subject_id = r.subject_id
