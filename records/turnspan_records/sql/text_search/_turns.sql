-- Of each row the first text that has it.
{_cut}
(
    SELECT
        project, if(t.session_id = '', t.trace_id, t.session_id) AS session_id, turn_id, span_id,
        '' AS message, toUnixTimestamp64Nano(start_time) AS nanoseconds,
        [('user message', user_message), ('reply', response_text),
            ('why it stopped', concat(t.stop_reason, ' ', t.stop_detail)),
            ('error', concat(t.error_type, ' ', t.error_message))] AS texts,
        arrayFirst(one -> positionCaseInsensitiveUTF8(one.2, {text:String}) > 0, texts) AS first,
        lowerUTF8(concat(t.user_message, ' ', t.response_text, ' ', t.stop_reason, ' ',
            t.stop_detail, ' ', t.error_type, ' ', t.error_message)) AS words,
        first.1 AS kind, first.2 AS found,
        positionCaseInsensitiveUTF8(found, {text:String}) AS at
    FROM turn_summary AS t
    WHERE {of_project} AND {_in_time} AND at > 0{words} {filter}
    ORDER BY start_time DESC, span_id
    LIMIT {limit:UInt32}
)
