-- One row per model call, with everything the model saw and said rebuilt from what is stored once,
-- what its turn says about it, and the results of the tools that its round executed.
--
-- Why RIGHT JOINs with the calls on the right: the engine then builds its hash table from the calls
-- that the reader's WHERE left over, whatever column it names, and filters messages and definitions
-- at run time by the keys it found there, reading their big text columns only where they match. With
-- the calls on the left, every message of the store would be read first. Messages are grouped per
-- scope in the order of their key, so that a reader without WHERE holds few sessions at a time.
-- ANY, because the planner reorders joins of strictness ALL by statistics of earlier queries, and
-- then builds the table from the messages after all.
--
-- Why one sorted array and no look-up by hash: a lambda that captures a session's messages copies
-- them once for each message. Sorting stored and wanted hashes together puts each wanted one behind
-- its text (position 0), arrayFill carries the text over, and sorting by position restores the order.
--
-- Content is addressed by its hash, so duplicates are equal and final = 0 spares the merge; equal
-- calls never lie in two partitions, because start_time is part of their key. The newest row of each
-- turn and tool is found by argMax, because FINAL would read all their texts before the filter.
CREATE OR REPLACE VIEW {database}.llm_call_full {on_cluster} AS
WITH
    arrayConcat(input_messages, output_messages) AS wanted,
    arraySort(arrayZip(
        arrayConcat(stored_hashes, wanted),
        arrayConcat(
            arrayWithConstant(length(stored_hashes), toUInt32(0)), arrayEnumerate(wanted)),
        arrayConcat(stored_messages, arrayWithConstant(length(wanted), '')))) AS merged,
    arrayPushFront(arrayPopBack(merged.1), toFixedString('', 16)) AS hashes_before,
    arrayFill(
        (message, hash, before, position) -> position = 0 OR hash != before,
        merged.3, merged.1, hashes_before, merged.2) AS filled,
    arraySort(
        (message, position) -> position,
        arrayFilter((message, position) -> position > 0, filled, merged.2),
        arrayFilter(position -> position > 0, merged.2)) AS found,
    arrayMap(
        (message, hash) -> if(message != '', message, concat(
            '{"role":"unknown","parts":[],"missing":"', lower(hex(hash)), '"}')),
        found, wanted) AS messages
SELECT
    * EXCEPT (
        message_scope, m_project, m_scope, stored_hashes, stored_messages,
        p_project, p_hash, p_body, t_project, t_hash, t_body, a_project, a_hash, a_body,
        u_project, u_session_id, u_turn_id, r_project, r_session_id, r_turn_id, r_round, executed,
        turn_user_message, turn_intent, chat_mode, task_type, target),
    u_turn_id != '' AS turn_known,
    turn_user_message,
    turn_intent,
    chat_mode,
    task_type,
    target,
    concat('[', arrayStringConcat(arrayMap(tool -> tool.3, arraySort(executed)), ','), ']')
        AS tool_results,
    toUInt32(arrayCount(tool -> tool.4, executed)) AS tool_error_count,
    p_body AS system_prompt,
    t_body AS tool_definitions,
    a_body AS context_assembled,
    concat('[', arrayStringConcat(arraySlice(messages, 1, length(input_messages)), ','), ']')
        AS chat_history,
    concat('[', arrayStringConcat(arraySlice(messages, length(input_messages) + 1), ','), ']')
        AS output
FROM
(
    SELECT *
    FROM
    (
        SELECT
            project AS m_project,
            scope AS m_scope,
            groupArray(hash) AS stored_hashes,
            groupArray(concat(
                '{"role":', toJSONString(role),
                if(name = '', '', concat(',"name":', toJSONString(name))),
                ',"parts":', if(parts = '', '[]', parts), '}')) AS stored_messages
        FROM {database}.message
        GROUP BY project, scope
        SETTINGS final = 0, optimize_aggregation_in_order = 1
    ) AS m
    ANY RIGHT JOIN
    (
        SELECT *
        FROM
        (
            SELECT project AS p_project, hash AS p_hash, any(body) AS p_body
            FROM {database}.definition
            GROUP BY project, hash
            SETTINGS final = 0, optimize_aggregation_in_order = 1
        ) AS p
        ANY RIGHT JOIN
        (
            SELECT *
            FROM
            (
                SELECT project AS t_project, hash AS t_hash, any(body) AS t_body
                FROM {database}.definition
                GROUP BY project, hash
                SETTINGS final = 0, optimize_aggregation_in_order = 1
            ) AS t
            ANY RIGHT JOIN
            (
                SELECT *
                FROM
                (
                    SELECT project AS a_project, hash AS a_hash, any(body) AS a_body
                    FROM {database}.definition
                    GROUP BY project, hash
                    SETTINGS final = 0, optimize_aggregation_in_order = 1
                ) AS a
                ANY RIGHT JOIN
                (
                    SELECT *
                    FROM
                    (
                        SELECT r_project, r_session_id, r_turn_id, r_round,
                            groupArray((start_time, span_id, newest.1, newest.2)) AS executed
                        FROM
                        (
                            SELECT
                                project AS r_project,
                                session_id AS r_session_id,
                                turn_id AS r_turn_id,
                                round AS r_round,
                                start_time,
                                span_id,
                                argMax((
                                    concat(
                                        '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
                                        ',"result":', toJSONString(result),
                                        ',"failed":', if(failed, 'true', 'false'), '}'),
                                    failed), written_at) AS newest
                            FROM {database}.tool_call
                            WHERE turn_id != ''
                            GROUP BY project, session_id, turn_id, round, start_time, span_id
                            SETTINGS final = 0
                        )
                        GROUP BY r_project, r_session_id, r_turn_id, r_round
                    ) AS r
                    ANY RIGHT JOIN
                    (
                        SELECT *
                        FROM
                        (
                            SELECT
                                project AS u_project,
                                session_id AS u_session_id,
                                turn_id AS u_turn_id,
                                argMax(user_message, written_at) AS turn_user_message,
                                argMax(turn_summary.turn_intent, written_at) AS turn_intent,
                                argMax(turn_summary.chat_mode, written_at) AS chat_mode,
                                argMax(turn_summary.task_type, written_at) AS task_type,
                                argMax(turn_summary.target, written_at) AS target
                            FROM {database}.turn_summary
                            GROUP BY project, session_id, turn_id
                            SETTINGS final = 0
                        ) AS u
                        ANY RIGHT JOIN
                        (
                            SELECT
                                * EXCEPT (system_prompt, tool_definitions, context_assembled),
                                system_prompt AS system_prompt_hash,
                                tool_definitions AS tool_definitions_hash,
                                context_assembled AS context_assembled_hash,
                                if(session_id = '', trace_id, session_id) AS message_scope
                            FROM {database}.llm_call FINAL
                            SETTINGS do_not_merge_across_partitions_select_final = 1
                        ) AS c ON u_project = project AND u_session_id = session_id AND u_turn_id = turn_id
                    ) AS c ON r_project = project AND r_session_id = session_id
                        AND r_turn_id = turn_id AND r_round = round
                ) AS c ON a_project = project AND a_hash = context_assembled_hash
            ) AS c ON t_project = project AND t_hash = tool_definitions_hash
        ) AS c ON p_project = project AND p_hash = system_prompt_hash
    ) AS c ON m_project = project AND m_scope = message_scope
)
