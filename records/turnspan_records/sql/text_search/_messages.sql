{_cut}
(
    SELECT
        project, scope AS session_id, '' AS turn_id, '' AS span_id,
        lower(hex(hash)) AS message,
        toUnixTimestamp64Nano(first_seen) AS nanoseconds,
        concat(role, ' message') AS kind, parts AS found, lowerUTF8(parts) AS words,
        positionCaseInsensitiveUTF8(found, {written:String}) AS at
    FROM message
    WHERE {of_project} {of_scopes}
        AND first_seen >= {from:DateTime64(9, 'UTC')} AND first_seen < {to:DateTime64(9, 'UTC')}
        AND at > 0{written_words}
    ORDER BY first_seen DESC, hash
    LIMIT 1 BY hash
    LIMIT {limit:UInt32}
)
