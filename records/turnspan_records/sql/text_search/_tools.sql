{_cut}
(
    SELECT
        project, if(t.session_id = '', t.trace_id, t.session_id) AS session_id, turn_id, span_id,
        '' AS message,
        toUnixTimestamp64Nano(start_time) AS nanoseconds,
        [('tool', toString(name)), ('tool arguments', arguments), ('tool result', result),
            ('tool error', concat(t.error_type, ' ', t.error_message))] AS texts,
        arrayFirst(one -> positionCaseInsensitiveUTF8(one.2, {text:String}) > 0, texts) AS first,
        lowerUTF8(concat(t.name, ' ', t.arguments, ' ', t.result, ' ', t.error_type, ' ',
            t.error_message)) AS words,
        first.1 AS kind, first.2 AS found,
        positionCaseInsensitiveUTF8(found, {text:String}) AS at
    FROM tool_call AS t
    WHERE {of_project} AND {_in_time} AND at > 0{words} {of_turns}
    ORDER BY start_time DESC, span_id
    LIMIT {limit:UInt32}
)
