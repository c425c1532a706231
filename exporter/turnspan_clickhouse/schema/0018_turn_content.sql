-- What the views of turns join to them: as call_content, for the reasons given there. Elements, by
-- position:
--   stored_hashes, stored_messages   hash; message as JSON
--   definitions   (hash, body)
--   calls         (turn_id, start_time, span_id, written_at, provider, model, system_prompt hash,
--                 context hash, thoughts, tool_calls JSON), in the order of time, each once
--   tools         (turn_id, start_time, span_id, written_at, round, result as JSON), likewise
--   comments      (id of the turn or call, comment): what was last said of them
CREATE OR REPLACE VIEW {database}.turn_content {on_cluster} AS
WITH
    arraySort(call -> (call.2, call.3, call.4), found_calls) AS sorted_calls,
    arraySort(tool -> (tool.2, tool.3, tool.4), found_tools) AS sorted_tools
SELECT
    content_project,
    content_scope,
    stored_hashes,
    stored_messages,
    arraySort(definition -> definition.1, found_definitions) AS definitions,
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
        groupArrayIf(hash, kind = 1) AS stored_hashes,
        groupArrayIf(text, kind = 1) AS stored_messages,
        groupArrayIf((hash, text), kind = 2) AS found_definitions,
        groupArrayIf(
            (turn, time, span, written, vendor, model, hash, context, text, asked), kind = 3)
            AS found_calls,
        groupArrayIf((turn, time, span, written, number, text), kind = 4) AS found_tools,
        groupArrayIf((turn, text), kind = 5) AS comments
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
                ',"parts":', if(parts = '', '[]', parts), '}') AS text,
            '' AS turn,
            '' AS span,
            toDateTime64(0, 9, 'UTC') AS time,
            toDateTime64(0, 9, 'UTC') AS written,
            '' AS vendor,
            '' AS model,
            toFixedString('', 16) AS context,
            '' AS asked,
            toUInt32(0) AS number
        FROM {database}.message
        UNION ALL
        SELECT
            toString(used.project), used.scope, 2, d.hash, d.body, '', '',
            toDateTime64(0, 9, 'UTC'), toDateTime64(0, 9, 'UTC'), '', '', toFixedString('', 16), '',
            toUInt32(0)
        -- A subquery: RESTORE under another database's name loses the alias of a table.
        FROM (SELECT project, hash, body FROM {database}.definition) AS d
        INNER JOIN
        (
            SELECT DISTINCT project, session_id AS scope,
                arrayJoin([system_prompt, context_assembled]) AS hash
            FROM {database}.llm_call
            WHERE session_id != ''
            UNION ALL
            SELECT DISTINCT project, trace_id AS scope,
                arrayJoin([system_prompt, context_assembled]) AS hash
            FROM {database}.llm_call
            WHERE session_id = ''
        ) AS used ON d.project = used.project AND d.hash = used.hash
        UNION ALL
        SELECT
            toString(project), session_id, 3, system_prompt, response_thoughts, turn_id, span_id,
            start_time, written_at, toString(provider),
            toString(if(response_model = '', request_model, response_model)), context_assembled,
            tool_calls, toUInt32(0)
        FROM {database}.llm_call
        WHERE session_id != ''
        UNION ALL
        SELECT
            toString(project), trace_id, 3, system_prompt, response_thoughts, turn_id, span_id,
            start_time, written_at, toString(provider),
            toString(if(response_model = '', request_model, response_model)), context_assembled,
            tool_calls, toUInt32(0)
        FROM {database}.llm_call
        WHERE session_id = ''
        UNION ALL
        SELECT
            toString(project), session_id, 4, toFixedString('', 16),
            concat(
                '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
                ',"result":', toJSONString(result),
                ',"failed":', if(failed, 'true', 'false'), '}'),
            turn_id, span_id, start_time, written_at, '', '', toFixedString('', 16), '', round
        FROM {database}.tool_call
        WHERE session_id != ''
        UNION ALL
        SELECT
            toString(project), trace_id, 4, toFixedString('', 16),
            concat(
                '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
                ',"result":', toJSONString(result),
                ',"failed":', if(failed, 'true', 'false'), '}'),
            turn_id, span_id, start_time, written_at, '', '', toFixedString('', 16), '', round
        FROM {database}.tool_call
        WHERE session_id = ''
        UNION ALL
        SELECT
            toString(judged.project), judged.scope, 5, toFixedString('', 16), j.comment,
            j.subject_id, '', toDateTime64(0, 9, 'UTC'), toDateTime64(0, 9, 'UTC'), '', '',
            toFixedString('', 16), '', toUInt32(0)
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
