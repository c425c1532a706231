-- Failures by the shape of their message. What differs from one time to the next is left out:
-- quoted parts, ids, addresses in memory, numbers.
SELECT f.*, nullIf(c.calls, 0) AS calls_of, {place} AS place
FROM
(
    SELECT
        source, name, error,
        replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(leftUTF8(message, 400),
            {quoted:String}, '…'), {id:String}, '#'), '[0-9]+(?:[.,][0-9]+)*', 'N') AS shape,
        count() AS times,
        uniqExactIf((project, turn_id), turn_id != '') AS turns,
        toUnixTimestamp64Nano(min(start_time)) AS first,
        toUnixTimestamp64Nano(max(start_time)) AS last,
        argMax((project, session_id, turn_id, span_id, leftUTF8(message, 400)), start_time) AS newest
    FROM
    (
        SELECT 'model call' AS source,
            {model} AS name,
            toString(error_type) AS error, error_message AS message,
            project, session_id, turn_id, span_id, start_time
        FROM llm_call WHERE error_type != '' AND {in_window}
        UNION ALL
        SELECT 'tool', toString(name), toString(if(t.error_type != '', t.error_type, 'failed result')),
            if(t.error_message != '', t.error_message, result),
            project, session_id, turn_id, span_id, start_time
        FROM tool_call AS t WHERE failed AND {in_window}
        UNION ALL
        SELECT 'turn', toString(agent_name), toString(t.error_type), t.error_message,
            project, session_id, turn_id, span_id, start_time
        FROM turn_summary AS t WHERE t.error_type != '' AND parent_turn_id = '' AND {in_window}
    )
    GROUP BY source, name, error, shape
) AS f
LEFT JOIN
(
    {_calls}
) AS c ON c.source = f.source AND c.name = f.name
WHERE {older}
ORDER BY {order}
LIMIT {limit:UInt32}
