-- What ephemera_agent_log joins to turns and to calls without one: as call_content, for the reasons
-- given there. Elements, by position:
--   user_hashes, user_parts   hash and parts (as JSON) of the messages of users
--   definitions   (hash, body)
--   calls         (turn_id, start_time, span_id, written_at, provider, model, system_prompt hash,
--                 context hash, thoughts, tool_calls JSON), in the order of time, each once
--   comments      (id of the turn or call, comment): what was last said of them and not withdrawn
CREATE OR REPLACE VIEW {database}.log_content {on_cluster} AS
WITH arraySort(call -> (call.2, call.3, call.4), found_calls) AS sorted_calls
SELECT
    content_project,
    content_scope,
    user_hashes,
    user_parts,
    arraySort(definition -> definition.1, found_definitions) AS definitions,
    comments,
    arrayFilter(
        (call, next) -> call.3 != next,
        sorted_calls, arrayPopFront(arrayPushBack(sorted_calls.3, ''))) AS calls
FROM
(
    SELECT
        content_project,
        content_scope,
        groupArrayIf(hash, kind = 3) AS user_hashes,
        groupArrayIf(text, kind = 3) AS user_parts,
        groupArrayIf((hash, text), kind = 2) AS found_definitions,
        groupArrayIf(
            (turn, time, span, written, vendor, model, hash, context, text, asked), kind = 1)
            AS found_calls,
        groupArrayIf((turn, text), kind = 4) AS comments
    FROM
    (
        SELECT
            {piece:calls}
        FROM {database}.llm_call
        WHERE session_id != ''
        UNION ALL
        SELECT
            toString(used.project), used.scope, 2, d.hash, d.body, '', '',
            toDateTime64(0, 9, 'UTC'), toDateTime64(0, 9, 'UTC'), '', '', toFixedString('', 16), ''
        {piece:definitions|system_prompt, context_assembled}
        UNION ALL
        SELECT
            toString(project), trace_id, 1, system_prompt, response_thoughts, turn_id, span_id,
            start_time, written_at, toString(provider),
            toString(if(response_model = '', request_model, response_model)), context_assembled,
            tool_calls
        FROM {database}.llm_call
        WHERE session_id = ''
        UNION ALL
        SELECT
            toString(project), scope, 3, hash, parts, '', '', toDateTime64(0, 9, 'UTC'),
            toDateTime64(0, 9, 'UTC'), '', '', toFixedString('', 16), ''
        FROM {database}.message
        WHERE role = 'user'
        UNION ALL
        SELECT
            toString(judged.project), judged.scope, 4, toFixedString('', 16), j.comment,
            j.subject_id, '', toDateTime64(0, 9, 'UTC'), toDateTime64(0, 9, 'UTC'), '', '',
            toFixedString('', 16), ''
        FROM
        (
            SELECT project, subject_id,
                argMax(
                    annotation.comment,
                    (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')),
                    created_at, written_at, annotation_id)) AS comment
            FROM {database}.annotation
            WHERE subject_kind IN ('turn', 'call', 'llm_call') AND kind = 'comment'
                {piece:not_withdrawn|comment}
            GROUP BY project, subject_id
        ) AS j
        INNER JOIN
        (
            SELECT DISTINCT project, session_id AS scope, turn_id AS id
            FROM {database}.turn_summary WHERE session_id != ''
            UNION ALL
            SELECT DISTINCT project, trace_id AS scope, turn_id AS id
            FROM {database}.turn_summary WHERE session_id = ''
            UNION ALL
            SELECT DISTINCT project, session_id AS scope, span_id AS id
            FROM {database}.llm_call WHERE session_id != '' AND turn_id IN ('')
            UNION ALL
            SELECT DISTINCT project, trace_id AS scope, span_id AS id
            FROM {database}.llm_call WHERE session_id = '' AND turn_id IN ('')
        ) AS judged ON j.project = judged.project AND j.subject_id = judged.id
    )
    GROUP BY content_project, content_scope
    SETTINGS final = 0
)
