-- A turn's cost holds that of the turns inside of it, its counts do not (SEMANTICS.md, counters):
-- those are counted with the root turn of their trace.
WITH page AS
    (
        SELECT project, session_id, max(start_time) AS newest FROM turn_summary AS t
        WHERE session_id != '' AND {where}
        GROUP BY project, session_id
        {page}
    )
SELECT *, {place} AS place
FROM
(
    SELECT
        project, session_id AS session, maxIf(start_time, parent_turn_id = '') AS time,
        countIf(parent_turn_id = '') AS turns,
        sum(llm_call_count) AS calls, sum(tool_call_count) AS tools,
        sum(tool_error_count) AS failed_tools, sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
        argMaxIf({how_ended}, (start_time, turn_id), parent_turn_id = '') AS ended,
        countIf({how_ended} NOT IN ('completed', 'running') AND parent_turn_id = '') AS problems,
        leftUTF8(argMinIf(user_message, (start_time, turn_id), parent_turn_id = ''), 240) AS said
    FROM
    (
        SELECT *, ({where}) AS wanted,
            max(wanted) OVER (PARTITION BY project, session_id, trace_id) AS with_wanted
        FROM turn_summary AS t
        WHERE (project, session_id) IN (SELECT project, session_id FROM page)
    ) AS t
    WHERE wanted OR (parent_turn_id != '' AND with_wanted)
    GROUP BY project, session_id
)
WHERE {older}
ORDER BY {order}
LIMIT {limit:UInt32}
