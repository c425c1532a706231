-- title: Errors by type
-- question: What goes wrong in model calls, tools and turns, and since when?
-- remedy: Open the last one with `turnspan show SPAN`. Rate limits and timeouts of a provider show here under `model call`.
SELECT
    source,
    name,
    error_type AS error,
    count() AS times,
    min(start_time) AS first_time,
    max(start_time) AS last_time,
    argMax(span_id, start_time) AS last_span,
    leftUTF8(argMax(error_message, start_time), 240) AS last_message
FROM
(
    SELECT 'model call' AS source, if(response_model != '', response_model, request_model) AS name,
        error_type, error_message, start_time, span_id
    FROM llm_call
    WHERE error_type != ''
        AND ({project:String} = '' OR project = {project:String})
        AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    UNION ALL
    SELECT 'tool' AS source, name,
        if(error_type != '', error_type, 'failed result') AS error_type, error_message, start_time, span_id
    FROM tool_call
    WHERE failed
        AND ({project:String} = '' OR project = {project:String})
        AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    UNION ALL
    SELECT 'turn' AS source, agent_name AS name,
        error_type, error_message, start_time, span_id
    FROM turn_summary
    WHERE error_type != '' AND parent_turn_id = ''
        AND ({project:String} = '' OR project = {project:String})
        AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
)
GROUP BY source, name, error
ORDER BY times DESC, source, name, error
LIMIT {limit:UInt32}
