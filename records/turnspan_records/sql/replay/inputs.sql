-- What calls sent that the call of their agent before had not sent as well, from what all of these
-- sent. In a query of its own: what is named by WITH is done once for each use, over all histories.
SELECT span_id,
    toUInt32(if(other = 0, toInt64(length(input_messages)), toInt64(other) - 1)) AS repeated,
    arrayMap(h -> lower(hex(h)), arraySlice(input_messages, repeated + 1)) AS input_hashes
FROM
(
    -- Most calls send all that the one before did: that is told at once, without a look at each.
    SELECT span_id, start_time, input_messages,
        if(startsWith(input_messages, before), length(before) + 1,
            arrayFirstIndex((old, new) -> old != new,
                arrayResize(before, length(input_messages)), input_messages)) AS other
    FROM
    (
        SELECT span_id, start_time, input_messages,
            lagInFrame(input_messages) OVER (PARTITION BY agent_name
                ORDER BY start_time, span_id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
        FROM llm_call
        WHERE {where} AND (empty({spans:Array(String)}) OR span_id IN {spans:Array(String)})
    )
)
