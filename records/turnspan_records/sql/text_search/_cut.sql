-- What is shown of a hit: 300 characters, 60 of them before it.
SELECT kind, project, session_id, turn_id, span_id, message, nanoseconds,
    substringUTF8(found, greatest(1, toInt64(at) - 60), 300) AS cut
FROM
