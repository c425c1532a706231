-- A history comes without what the call of this agent before had sent as well: all of them would
-- be the square of the calls. Where that one's digest is that of this one's beginning, or the
-- history is short, its last messages are enough; of the others replay/inputs asks.
SELECT {columns},
    parent_span_id, request_model, response_model, stream_outcome,
    {texts}
    sent_count,
    multiIf(before.1 <= sent_count AND sent_count - before.1 < length(sent_digests)
            AND sent_digests[toInt64(before.1) - toInt64(sent_count) - 1] = before.2,
            toUInt32(before.1),
        sent_count <= length(sent_last), 0, NULL) AS repeated,
    arrayMap(h -> lower(hex(h)),
        arraySlice(sent_last, length(sent_last) + 1 + ifNull(repeated, sent_count) - sent_count))
        AS input_hashes,
    arrayMap(h -> lower(hex(h)), output_messages) AS output_hashes,
    lower(hex(system_prompt)) AS system_hash
FROM
(
    SELECT *, sent_last, sent_digests, input_messages.size0 AS sent_count,
        lagInFrame((sent_count, sent_digests[-1])) OVER (PARTITION BY agent_name
            ORDER BY start_time, span_id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
    FROM llm_call
    WHERE {where}
) AS sent
ORDER BY start_time, span_id
