-- What the turns inside of others count as well, with the root turns of their traces.
SELECT project, session, max(time) AS time, sum(calls) AS calls, sum(tools) AS tools,
    sum(failed_tools) AS failed_tools
FROM
(
    SELECT project, session, time, calls, tools, failed_tools FROM ({figures})
    UNION ALL
    SELECT project, session_id, toDateTime64(0, 9, 'UTC'), llm_call_count, tool_call_count,
        tool_error_count
    FROM turn_summary
    WHERE parent_turn_id != '' AND session_id != '' AND (project, session_id, trace_id) IN
    (
        SELECT project, session_id, trace_id FROM turn_summary AS t
        WHERE {where} AND (project, session_id, trace_id) IN
            (SELECT project, session_id, trace_id FROM turn_summary WHERE parent_turn_id != '')
    )
)
GROUP BY project, session
