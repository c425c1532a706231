-- title: Context lost to compaction
-- question: Where was a history replaced by a summary, how large was it, and what did the agent read again after it?
-- remedy: Give tasks that need one context sessions of their own, or write what is read again into the instructions file. Without a record of a compaction, a call counts that was given less than half of more than 10,000 tokens that the agent's call before it was given.
WITH
    recorded AS
    (
        SELECT project, session_id, turn_id, moment AS at,
            said['turnspan.coding.compaction.trigger'] AS trigger,
            toUInt64OrNull(said['turnspan.coding.compaction.tokens_before']) AS tokens
        FROM
        (
            SELECT project, session_id, turn_id, start_time AS moment, attributes AS said
            FROM span
            WHERE name = 'compaction'
                AND {chosen:start_time}
            UNION ALL
            SELECT project, session_id, turn_id, start_time AS moment,
                CAST(JSONExtract(event, 'attributes', 'Map(String, String)'), 'Map(String, String)') AS said
            FROM span
            ARRAY JOIN JSONExtractArrayRaw(events) AS event
            WHERE position(events, 'compaction') > 0 AND JSONExtractString(event, 'name') = 'compaction'
                AND {chosen:start_time}
        )
    ),
    shrunk AS
    (
        SELECT project, session_id, turn_id, start_time AS at, 'not recorded' AS trigger, before AS tokens
        FROM
        (
            SELECT project, session_id, turn_id, start_time, input_tokens,
                lagInFrame(input_tokens) OVER (PARTITION BY project, session_id, agent_name
                    ORDER BY start_time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
            FROM llm_call
            WHERE session_id != '' AND isNotNull(input_tokens)
                AND {chosen:start_time}
        )
        WHERE before > 10000 AND input_tokens * 2 < before
            AND (project, session_id) NOT IN (SELECT project, session_id FROM recorded)
    ),
    -- What ran more than once in a session, with the times at which it ran.
    repeated AS
    (
        SELECT project, session_id, any(name) AS tool, any(leftUTF8(arguments, 120)) AS given,
            any(length(result)) AS size, groupArray(start_time) AS times
        FROM tool_call
        WHERE NOT failed AND session_id != ''
            AND {chosen:start_time}
        GROUP BY project, session_id, cityHash64(name, arguments)
        HAVING count() > 1
    )
SELECT
    c.at AS time,
    c.project AS project,
    c.session_id AS session,
    any(c.turn_id) AS turn,
    any(c.trigger) AS trigger,
    any(c.tokens) AS tokens_before,
    countIf(again) AS repeated_calls,
    sumIf(r.size, again) AS repeated_bytes,
    arrayStringConcat(arraySlice(arraySort(groupArrayIf(concat(r.tool, ' ', r.given), again)), 1, 3), '; ') AS example_arguments
FROM (SELECT * FROM recorded UNION ALL SELECT * FROM shrunk) AS c
LEFT JOIN repeated AS r ON r.project = c.project AND r.session_id = c.session_id
-- Read before the compaction, and once more after it.
ARRAY JOIN [arrayExists(one -> one < c.at, r.times) AND arrayExists(one -> one > c.at, r.times)] AS again
GROUP BY time, project, session
ORDER BY tokens_before DESC, time, session
LIMIT {limit:UInt32}
