SELECT attempt_id, argMin(user_message, start_time) AS input,
    argMax(response_text, start_time) AS output
FROM turn_summary
WHERE {_of} AND attempt_id != '' AND parent_turn_id = ''
    AND start_time >= {since:DateTime64(9, 'UTC')}
GROUP BY attempt_id
