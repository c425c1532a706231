-- title: Errors by type
-- question: What goes wrong in model calls, tools and turns, and since when?
-- remedy: Open the last one with `turnspan show SPAN`. Rate limits and timeouts of a provider show here under `model call`.
WITH failures AS
    (
        SELECT 'model call' AS source, {model} AS name,
            error_type, error_message, start_time, span_id
        FROM llm_call
        WHERE error_type != ''
            AND {chosen:start_time}
        UNION ALL
        SELECT 'tool' AS source, name,
            if(error_type != '', error_type, 'failed result') AS error_type, error_message, start_time, span_id
        FROM tool_call
        WHERE failed
            AND {chosen:start_time}
        UNION ALL
        SELECT 'turn' AS source, agent_name AS name,
            error_type, error_message, start_time, span_id
        FROM turn_summary
        WHERE error_type != '' AND parent_turn_id = ''
            AND {chosen:start_time}
    )
SELECT
    source,
    name,
    error,
    times,
    first_time,
    last_time,
    span_id AS last_span,
    leftUTF8(error_message, 240) AS last_message
FROM failures
-- The kinds on the right: only the last failure of each is read on the left, message and all.
ANY RIGHT JOIN
(
    SELECT any(source) AS found_in, any(name) AS of_name, any(error_type) AS error,
        count() AS times, min(start_time) AS first_time, max(start_time) AS last_time
    FROM failures
    GROUP BY cityHash64(source, name, error_type)
    ORDER BY times DESC, found_in, of_name, error
    LIMIT {limit:UInt32}
) AS kinds
    ON source = found_in AND name = of_name AND error_type = error AND start_time = last_time
ORDER BY times DESC, source, name, error
