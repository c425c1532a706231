-- The calls and turns of the sessions that have one of these calls, in their order.
WITH alike AS (
    SELECT DISTINCT session_id FROM llm_call
    WHERE span_id IN {firsts:Array(String)} AND session_id != ''
)
SELECT session_id, row, time, parent FROM (
    SELECT session_id, span_id AS row, '' AS parent,
        toUnixTimestamp64Nano(start_time) + toInt64(round(duration * 1e9)) AS time
    FROM llm_call WHERE session_id IN alike
    UNION ALL
    SELECT session_id, turn_id, attributes['turnspan.coding.forked_from'],
        toUnixTimestamp64Nano(start_time)
    FROM turn_summary WHERE session_id IN alike
) ORDER BY session_id, time, parent, row
