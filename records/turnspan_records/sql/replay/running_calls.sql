-- The calls that have not ended, as replay/calls has those that have.
SELECT {columns},
    dateDiff('millisecond', start_time, written_at) / 1000 AS stored,
    if(status = 'running',
        greatest(dateDiff('millisecond', start_time, now64(3)) / 1000, stored), stored) AS duration,
    parent_span_id, request_model, '' AS response_model, '' AS stream_outcome, status,
    {texts}
    toUInt32(0) AS repeated, length(input_messages) AS sent_count,
    arrayMap(h -> lower(hex(h)), input_messages) AS input_hashes,
    lower(hex(system_prompt)) AS system_hash
FROM
(
    SELECT *, NULL AS cache_write_tokens, false AS tokens_estimated, '' AS consortium_id
    FROM llm_call_running
    WHERE {where} AND status != 'final'
        AND span_id GLOBAL NOT IN (SELECT span_id FROM llm_call WHERE {where})
) AS sent
ORDER BY start_time, span_id
