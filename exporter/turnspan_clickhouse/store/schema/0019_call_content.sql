-- What the views of model calls join to them: everything of one scope (a session, or a trace without
-- one) in one row of arrays. Elements, by position:
--   stored_hashes, stored_messages   hash; message as JSON; in the order of the hashes
--   definitions   (hash, body)
--   turns         (turn_id, written_at, user_message, turn_intent, chat_mode, task_type, target),
--                 newest row first
--   tools         (turn_id, start_time, span_id, written_at, round, result as JSON, failed), in the
--                 order of time, each once
--
-- One row, so that a view needs one join only: the engine pushes a reader's WHERE, and an ORDER BY
-- with LIMIT, below one join and no further. Each table is read by its own key (sessions and traces
-- apart, no expression over both), so that the join's filter reaches the primary index. final = 0 and
-- the newest row picked here, because FINAL would keep that filter from the index.
-- Every table once more, and every column once more, is time that each question pays for its plan,
-- however little it reads: columns that several kinds share, and no SELECT *.
CREATE OR REPLACE VIEW {database}.call_content {on_cluster} AS
WITH arraySort(tool -> (tool.2, tool.3, tool.4), found_tools) AS sorted_tools
SELECT
    content_project,
    content_scope,
    arraySort(found_hashes) AS stored_hashes,
    arraySort((message, hash) -> hash, found_messages, found_hashes) AS stored_messages,
    arraySort(definition -> definition.1, found_definitions) AS definitions,
    arrayReverseSort(turn -> (turn.2, turn.1), found_turns) AS turns,
    arrayFilter(
        (tool, next) -> tool.3 != next,
        sorted_tools, arrayPopFront(arrayPushBack(sorted_tools.3, ''))) AS tools
FROM
(
    SELECT
        content_project,
        content_scope,
        groupArrayIf(hash, kind = 1) AS found_hashes,
        groupArrayIf(text, kind = 1) AS found_messages,
        groupArrayIf((hash, text), kind = 2) AS found_definitions,
        groupArrayIf((turn, written, text, intent, mode, task, aim), kind = 3) AS found_turns,
        groupArrayIf((turn, time, span, written, number, text, flag), kind = 4) AS found_tools
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
            '' AS intent,
            '' AS mode,
            '' AS task,
            '' AS aim,
            toUInt32(0) AS number,
            false AS flag
        FROM {database}.message
        UNION ALL
        SELECT
            toString(used.project), used.scope, 2, d.hash, d.body, '', '',
            toDateTime64(0, 9, 'UTC'), toDateTime64(0, 9, 'UTC'), '', '', '', '', toUInt32(0), false
        {piece:definitions|system_prompt, tool_definitions, context_assembled}
        UNION ALL
        {piece:turns|session_id|!=}
        UNION ALL
        {piece:turns|trace_id|=}
        UNION ALL
        {piece:tools|session_id|!=|4|'', '', '', '', round, failed}
        UNION ALL
        {piece:tools|trace_id|=|4|'', '', '', '', round, failed}
    )
    GROUP BY content_project, content_scope
    SETTINGS final = 0
)
