-- Everything that belongs to one scope (a session, or a trace without one), in one row of arrays, for
-- the views that join it to calls and turns. Elements, by position:
--   stored_hashes, stored_messages   hash; message as JSON; in the order of the hashes
--   definitions   (hash, body)
--   turns         (turn_id, written_at, user_message, turn_intent, chat_mode, task_type, target),
--                 newest row first
--   calls, tools  (turn_id, start_time, span_id, written_at, ...), in the order of time, each once:
--                 ... provider, model, system_prompt hash, context hash, thoughts, tool_calls JSON
--                 ... round, result as JSON, failed
--   comments      (id of the turn or call, comment): what was last said of them
--
-- One row, so that a view needs one join only: the engine pushes a reader's WHERE, and an ORDER BY
-- with LIMIT, below one join and no further. Each table is read by its own key (sessions and traces
-- apart, no expression over both), so that the join's filter reaches the primary index. final = 0 and
-- the newest row picked here, because FINAL would keep that filter from the index.
CREATE OR REPLACE VIEW {database}.session_content {on_cluster} AS
WITH
    arraySort(call -> (call.2, call.3, call.4), found_calls) AS sorted_calls,
    arraySort(tool -> (tool.2, tool.3, tool.4), found_tools) AS sorted_tools
SELECT
    content_project,
    content_scope,
    arraySort(found_hashes) AS stored_hashes,
    arraySort((message, hash) -> hash, found_messages, found_hashes) AS stored_messages,
    arraySort(definition -> definition.1, found_definitions) AS definitions,
    arrayReverseSort(turn -> (turn.2, turn.1), found_turns) AS turns,
    comments,
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
        groupArrayIf(hash, kind = 1) AS found_hashes,
        groupArrayIf(message, kind = 1) AS found_messages,
        groupArrayIf((hash, body), kind = 2) AS found_definitions,
        groupArrayIf(turn, kind = 3) AS found_turns,
        groupArrayIf(call, kind = 4) AS found_calls,
        groupArrayIf(tool, kind = 5) AS found_tools,
        groupArrayIf((message, body), kind = 6) AS comments
    FROM
    (
        SELECT
            toString(project) AS content_project,
            scope AS content_scope,
            1 AS kind,
            hash,
            concat(
                '{"role":', toJSONString(role),
                if(name = '', '', concat(',"name":', toJSONString(name))),
                ',"parts":', if(parts = '', '[]', parts), '}') AS message,
            '' AS body,
            ('', toDateTime64(0, 9, 'UTC'), '', '', '', '', '') AS turn,
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), '', '',
                toFixedString('', 16), toFixedString('', 16), '', '') AS call,
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), toUInt32(0), '', false)
                AS tool
        FROM {database}.message
        UNION ALL
        SELECT
            toString(used.project), used.scope, 2, d.hash, '', d.body,
            ('', toDateTime64(0, 9, 'UTC'), '', '', '', '', ''),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), '', '',
                toFixedString('', 16), toFixedString('', 16), '', ''),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), toUInt32(0), '', false)
        -- A subquery: RESTORE under another database's name loses the alias of a table.
        FROM (SELECT project, hash, body FROM {database}.definition) AS d
        INNER JOIN
        (
            SELECT DISTINCT project, session_id AS scope,
                arrayJoin([system_prompt, tool_definitions, context_assembled]) AS hash
            FROM {database}.llm_call
            WHERE session_id != ''
            UNION ALL
            SELECT DISTINCT project, trace_id AS scope,
                arrayJoin([system_prompt, tool_definitions, context_assembled]) AS hash
            FROM {database}.llm_call
            WHERE session_id = ''
        ) AS used ON d.project = used.project AND d.hash = used.hash
        UNION ALL
        SELECT
            toString(project), scope, 3, toFixedString('', 16), '', '',
            (turn_id, written_at, user_message, toString(turn_intent), toString(chat_mode),
                toString(task_type), target),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), '', '',
                toFixedString('', 16), toFixedString('', 16), '', ''),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), toUInt32(0), '', false)
        FROM
        (
            SELECT *, session_id AS scope FROM {database}.turn_summary WHERE session_id != ''
            UNION ALL
            SELECT *, trace_id AS scope FROM {database}.turn_summary WHERE session_id = ''
        )
        UNION ALL
        SELECT
            toString(project), scope, 4, toFixedString('', 16), '', '',
            ('', toDateTime64(0, 9, 'UTC'), '', '', '', '', ''),
            (turn_id, start_time, span_id, written_at, toString(provider),
                toString(if(response_model = '', request_model, response_model)), system_prompt,
                context_assembled, response_thoughts, tool_calls),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), toUInt32(0), '', false)
        FROM
        (
            SELECT *, session_id AS scope FROM {database}.llm_call WHERE session_id != ''
            UNION ALL
            SELECT *, trace_id AS scope FROM {database}.llm_call WHERE session_id = ''
        )
        UNION ALL
        SELECT
            toString(project), scope, 5, toFixedString('', 16), '', '',
            ('', toDateTime64(0, 9, 'UTC'), '', '', '', '', ''),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), '', '',
                toFixedString('', 16), toFixedString('', 16), '', ''),
            (turn_id, start_time, span_id, written_at, round,
                concat(
                    '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
                    ',"result":', toJSONString(result),
                    ',"failed":', if(failed, 'true', 'false'), '}'),
                failed)
        FROM
        (
            SELECT *, session_id AS scope FROM {database}.tool_call WHERE session_id != ''
            UNION ALL
            SELECT *, trace_id AS scope FROM {database}.tool_call WHERE session_id = ''
        )
        UNION ALL
        SELECT
            toString(judged.project), judged.scope, 6, toFixedString('', 16), j.subject_id, j.comment,
            ('', toDateTime64(0, 9, 'UTC'), '', '', '', '', ''),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), '', '',
                toFixedString('', 16), toFixedString('', 16), '', ''),
            ('', toDateTime64(0, 9, 'UTC'), '', toDateTime64(0, 9, 'UTC'), toUInt32(0), '', false)
        FROM
        (
            SELECT project, subject_id,
                argMax(annotation.comment, (created_at, written_at, annotation_id)) AS comment
            FROM {database}.annotation
            WHERE subject_kind IN ('turn', 'call', 'llm_call') AND kind = 'comment'
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
