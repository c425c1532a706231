SELECT 'model call' AS source,
    {model} AS name,
    toString(error_type) AS error, failure_shape AS shape,
    leftUTF8(error_message, 400) AS message, failure_turn,
    project, session_id, turn_id, span_id, start_time
FROM llm_call WHERE error_type != '' AND {in_window} AND {among}
UNION ALL
SELECT 'tool', toString(name), toString(if(t.error_type != '', t.error_type, 'failed result')),
    failure_shape, failure, failure_turn, project, session_id, turn_id, span_id, start_time
FROM tool_call AS t WHERE failed AND {in_window} AND {among}
UNION ALL
SELECT 'turn', toString(agent_name), toString(t.error_type), failure_shape,
    leftUTF8(t.error_message, 400), cityHash64(project, turn_id), project, session_id, turn_id,
    span_id, start_time
FROM turn_summary AS t WHERE t.error_type != '' AND parent_turn_id = '' AND {in_window} AND {among}
