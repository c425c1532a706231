SELECT {columns},
    leftUTF8(user_message, {cut}) AS user_message,
    leftUTF8(response_text, {cut}) AS response_text,
    length(turn_summary.user_message) AS asked_bytes,
    length(turn_summary.response_text) AS answered_bytes, max_identical_tool_streak
FROM turn_summary WHERE {where} ORDER BY start_time, span_id
