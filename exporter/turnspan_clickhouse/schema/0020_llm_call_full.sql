-- One row per model call, with everything the model saw and said rebuilt from what is stored once.
--
-- Why RIGHT JOINs with the calls on the right: the engine then builds its hash table from the calls
-- that the reader's WHERE left over, whatever column it names, and filters messages and definitions
-- at run time by the keys it found there, reading their big text columns only where they match. With
-- the calls on the left, every message of the store would be read first. Messages are grouped per
-- scope in the order of their key, so that a reader without WHERE holds few sessions at a time.
--
-- Why one sorted array and no look-up by hash: a lambda that captures a session's messages copies
-- them once for each message. Sorting stored and wanted hashes together puts each wanted one behind
-- its text (position 0), arrayFill carries the text over, and sorting by position restores the order.
--
-- Content is addressed by its hash, so duplicates are equal and final = 0 spares the merge; equal
-- calls never lie in two partitions, because start_time is part of their key.
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
        p_project, p_hash, p_body, t_project, t_hash, t_body, a_project, a_hash, a_body),
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
    RIGHT JOIN
    (
        SELECT *
        FROM
        (
            SELECT project AS p_project, hash AS p_hash, any(body) AS p_body
            FROM {database}.definition
            GROUP BY project, hash
            SETTINGS final = 0, optimize_aggregation_in_order = 1
        ) AS p
        RIGHT JOIN
        (
            SELECT *
            FROM
            (
                SELECT project AS t_project, hash AS t_hash, any(body) AS t_body
                FROM {database}.definition
                GROUP BY project, hash
                SETTINGS final = 0, optimize_aggregation_in_order = 1
            ) AS t
            RIGHT JOIN
            (
                SELECT *
                FROM
                (
                    SELECT project AS a_project, hash AS a_hash, any(body) AS a_body
                    FROM {database}.definition
                    GROUP BY project, hash
                    SETTINGS final = 0, optimize_aggregation_in_order = 1
                ) AS a
                RIGHT JOIN
                (
                    SELECT
                        * EXCEPT (system_prompt, tool_definitions, context_assembled),
                        system_prompt AS system_prompt_hash,
                        tool_definitions AS tool_definitions_hash,
                        context_assembled AS context_assembled_hash,
                        if(session_id = '', trace_id, session_id) AS message_scope
                    FROM {database}.llm_call FINAL
                    SETTINGS do_not_merge_across_partitions_select_final = 1
                ) AS c ON a_project = project AND a_hash = context_assembled_hash
            ) AS c ON t_project = project AND t_hash = tool_definitions_hash
        ) AS c ON p_project = project AND p_hash = system_prompt_hash
    ) AS c ON m_project = project AND m_scope = message_scope
)
