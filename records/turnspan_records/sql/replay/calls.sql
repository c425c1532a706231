-- A history comes without what the call of this agent before had sent as well: all of them would
-- be the square of the calls.
SELECT {columns},
    parent_span_id, request_model, response_model, stream_outcome,
    {texts}
    toUInt32(if(other = 0, toInt64(length(input_messages)), toInt64(other) - 1)) AS repeated,
    arrayMap(h -> lower(hex(h)), arraySlice(input_messages, repeated + 1)) AS input_hashes,
    arrayMap(h -> lower(hex(h)), output_messages) AS output_hashes,
    lower(hex(system_prompt)) AS system_hash
-- In a query of its own: what is named by WITH is done once for each use, over all histories.
FROM
(
    -- Most calls send all that the one before did: that is told at once, without a look at each.
    SELECT *, if(startsWith(input_messages, before), length(before) + 1,
        arrayFirstIndex((old, new) -> old != new,
            arrayResize(before, length(input_messages)), input_messages)) AS other
    FROM
    (
        SELECT *, lagInFrame(input_messages) OVER (PARTITION BY agent_name
            ORDER BY start_time, span_id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
        FROM llm_call
        WHERE {where}
    )
) AS sent
ORDER BY start_time, span_id
