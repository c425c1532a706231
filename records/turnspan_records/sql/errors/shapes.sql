-- Failures by the shape of their message, which is made when a row is written.
SELECT f.*, nullIf(c.calls, 0) AS calls_of, {place} AS place
FROM
(
    SELECT
        source, name, error, shape,
        count() AS times,
        uniqExactIf(cityHash64(project, turn_id), turn_id != '') AS turns,
        toUnixTimestamp64Nano(min(start_time)) AS first,
        toUnixTimestamp64Nano(max(start_time)) AS last,
        argMax((project, session_id, turn_id, span_id, message), start_time) AS newest
    FROM
    (
        SELECT 'model call' AS source,
            {model} AS name,
            toString(error_type) AS error, failure_shape AS shape,
            leftUTF8(error_message, 400) AS message,
            project, session_id, turn_id, span_id, start_time
        FROM llm_call WHERE error_type != '' AND {in_window}
        UNION ALL
        SELECT 'tool', toString(name), toString(if(t.error_type != '', t.error_type, 'failed result')),
            failure_shape, failure, project, session_id, turn_id, span_id, start_time
        FROM tool_call AS t WHERE failed AND {in_window}
        UNION ALL
        SELECT 'turn', toString(agent_name), toString(t.error_type), failure_shape,
            leftUTF8(t.error_message, 400), project, session_id, turn_id, span_id, start_time
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
