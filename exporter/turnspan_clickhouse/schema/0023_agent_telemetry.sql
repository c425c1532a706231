-- The records in the columns of a coding agent's log: a row per model call and a row per turn.
-- created_at is when a row's work was over, so that a turn's summary follows its calls.
CREATE OR REPLACE VIEW {database}.agent_telemetry {on_cluster} AS
WITH
    JSONExtractArrayRaw(tool_calls) AS asked,
    arraySort(executed) AS ordered,
    arrayLast(
        message -> JSONExtractString(message, 'role') = 'user',
        JSONExtractArrayRaw(chat_history)) AS last_user_message
SELECT
    span_id AS id,
    addNanoseconds(start_time, toInt64(duration * 1e9)) AS created_at,
    'llm_call' AS record_type,
    toString(project) AS project_id,
    session_id,
    turn_id,
    if(t_turn_id != '', t_user_message, arrayStringConcat(arrayMap(
        part -> JSONExtractString(part, 'content'),
        arrayFilter(
            part -> JSONExtractString(part, 'type') = 'text',
            JSONExtractArrayRaw(last_user_message, 'parts'))), '\n')) AS user_message,
    system_prompt,
    chat_history,
    response_text,
    response_thoughts,
    tool_calls,
    concat('[', arrayStringConcat(arrayMap(result -> result.3, ordered), ','), ']')
        AS tool_results,
    toString(if(response_model = '', request_model, response_model)) AS model_used,
    toString(provider) AS provider,
    toString(t_turn_intent) AS turn_intent,
    toString(if(t_chat_mode = '', 'unknown', t_chat_mode)) AS chat_mode,
    input_tokens AS prompt_tokens,
    output_tokens AS completion_tokens,
    if(isNull(input_tokens) AND isNull(output_tokens), NULL,
        ifNull(input_tokens, 0) + ifNull(output_tokens, 0)) AS total_tokens,
    round(duration * 1000, 3) AS duration_ms,
    arrayStringConcat(finish_reasons, ',') AS stop_reason,
    '' AS stop_detail,
    round AS rounds,
    toUInt32(1) AS llm_call_count,
    toUInt32(length(asked)) AS tool_call_count,
    toUInt32(arrayCount(result -> result.4, ordered)) AS tool_error_count,
    t_target AS target,
    toString(t_task_type) AS task_type,
    cost_usd,
    if(error_message = '', toString(error_type), error_message) AS error
FROM
(
    SELECT *
    FROM
    (
        SELECT
            project AS r_project,
            session_id AS r_session_id,
            turn_id AS r_turn_id,
            round AS r_round,
            groupArray((start_time, span_id, concat(
                '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
                ',"result":', toJSONString(result),
                ',"failed":', if(failed, 'true', 'false'), '}'), failed)) AS executed
        FROM {database}.tool_call FINAL
        WHERE turn_id != ''
        GROUP BY project, session_id, turn_id, round
        SETTINGS do_not_merge_across_partitions_select_final = 1
    ) AS r
    RIGHT JOIN
    (
        SELECT *
        FROM
        (
            SELECT
                project AS t_project,
                session_id AS t_session_id,
                turn_id AS t_turn_id,
                user_message AS t_user_message,
                turn_intent AS t_turn_intent,
                chat_mode AS t_chat_mode,
                target AS t_target,
                task_type AS t_task_type
            FROM {database}.turn_summary FINAL
            SETTINGS do_not_merge_across_partitions_select_final = 1
        ) AS t
        RIGHT JOIN {database}.llm_call_full AS c
            ON t_project = project AND t_session_id = session_id AND t_turn_id = turn_id
    ) AS c
        ON r_project = project AND r_session_id = session_id AND r_turn_id = turn_id
        AND r_round = round
)
UNION ALL
SELECT
    span_id AS id,
    addNanoseconds(start_time, toInt64(duration * 1e9)) AS created_at,
    if(parent_turn_id = '', 'turn_summary', 'subagent_summary') AS record_type,
    toString(project) AS project_id,
    session_id,
    turn_id,
    user_message,
    system_prompt,
    '' AS chat_history,
    response_text,
    response_thoughts,
    tool_calls,
    tool_results,
    toString(if(model = '', arrayElement(models, -1), model)) AS model_used,
    toString(provider) AS provider,
    toString(turn_intent) AS turn_intent,
    toString(if(chat_mode = '', 'unknown', chat_mode)) AS chat_mode,
    input_tokens AS prompt_tokens,
    output_tokens AS completion_tokens,
    if(isNull(input_tokens) AND isNull(output_tokens), NULL,
        ifNull(input_tokens, 0) + ifNull(output_tokens, 0)) AS total_tokens,
    round(duration * 1000, 3) AS duration_ms,
    toString(stop_reason) AS stop_reason,
    stop_detail,
    rounds,
    llm_call_count,
    tool_call_count,
    tool_error_count,
    target,
    toString(task_type) AS task_type,
    cost_usd,
    if(error_message = '', toString(error_type), error_message) AS error
FROM {database}.turn_full
