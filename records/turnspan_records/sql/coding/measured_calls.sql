-- The calls and tools of transcripts, with what telemetry may know better.
SELECT session_id, span_id, turn_id, 'llm_call', [attributes['turnspan.import.requestId'], response_id],
    concat(toString(input_tokens), ' ', toString(output_tokens)),
    toUnixTimestamp64Nano(start_time), duration, time_to_first_chunk, tries, cost_usd, price_version, '', ''
FROM llm_call WHERE session_id IN {sessions:Array(String)} AND startsWith(scope_name, 'turnspan.import.')
UNION ALL
SELECT session_id, span_id, turn_id, 'tool_call', [call_id], name,
    toUnixTimestamp64Nano(start_time), duration, NULL, 1, NULL, '',
    attributes['turnspan.coding.decision'], attributes['turnspan.coding.decision.source']
FROM tool_call WHERE session_id IN {sessions:Array(String)} AND startsWith(scope_name, 'turnspan.import.')
ORDER BY 1, 7
