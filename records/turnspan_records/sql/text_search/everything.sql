-- What is asked of one week after the other, as one statement.
SELECT fromUnixTimestamp64Nano(nanoseconds, 'UTC') AS time, kind, project, session_id, turn_id,
    span_id, message, cut
FROM
(
    {_turns}
    UNION ALL
    {_tools}
    UNION ALL
    {_messages}
)
ORDER BY time DESC
