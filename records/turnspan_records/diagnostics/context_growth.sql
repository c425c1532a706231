-- title: Context growth by session
-- question: In which sessions does the prompt grow most, and how much of it is read from the cache?
-- remedy: Growth of thousands of tokens a call comes from large tool results kept in history: trim or summarise them; if cached_share is low, keep the prompt's prefix stable.
SELECT
    project,
    session_id AS session,
    count() AS calls,
    argMin(c.input_tokens, start_time) AS first_input_tokens,
    max(c.input_tokens) AS largest_input_tokens,
    argMax(c.input_tokens, start_time) AS last_input_tokens,
    round((largest_input_tokens - first_input_tokens) / greatest(calls - 1, 1)) AS tokens_added_per_call,
    sum(c.cache_read_tokens) / sum(c.input_tokens) AS cached_share,
    sum(c.cost_usd) AS cost_usd,
    max(start_time) AS last_time
FROM llm_call AS c
-- The sessions first, with what it takes to order them; the rest is read for those few only. Grouped by
-- a hash: a hundred thousand texts as keys take twice the time and memory.
WHERE cityHash64(project, session_id) IN
    (
        SELECT cityHash64(project, session_id) AS known_by
        FROM llm_call
        WHERE session_id != ''
            AND input_tokens IS NOT NULL
            AND {chosen:start_time}
        GROUP BY known_by
        ORDER BY max(assumeNotNull(input_tokens)) - argMin(assumeNotNull(input_tokens), start_time) DESC, known_by
        LIMIT {limit:UInt32}
    )
    AND input_tokens IS NOT NULL
    AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR start_time >= {since:DateTime64(9, 'UTC')})
    AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00' OR start_time < {until:DateTime64(9, 'UTC')})
GROUP BY project, session
ORDER BY largest_input_tokens - first_input_tokens DESC, session
LIMIT {limit:UInt32}
