-- A turn's cost holds that of the turns inside of it, its counts do not (SEMANTICS.md, counters):
-- those are counted with the root turn of their trace. First which sessions they are, with what it
-- takes to tell; the rest is read for those few only. A value, since a subquery is run at each use.
WITH
    (
        SELECT groupArray((toString(project), session))
        FROM
        (
            SELECT project, session
            FROM
            (
                {figures}
            )
            WHERE {older}
            ORDER BY {order}
            LIMIT {limit:UInt32}
        )
    ) AS page
SELECT *, {place} AS place
FROM
(
    SELECT
        project, session_id AS session, maxIf(start_time, wanted) AS time, countIf(wanted) AS turns,
        sum(llm_call_count) AS calls, sum(tool_call_count) AS tools,
        sum(tool_error_count) AS failed_tools, sumIf(t.cost_usd, wanted) AS cost_usd,
        argMaxIf({how_ended}, (start_time, turn_id), wanted) AS ended,
        countIf({how_ended} NOT IN ('completed', 'running') AND wanted) AS problems,
        leftUTF8(argMinIf(user_message, (start_time, turn_id), wanted), 240) AS said
    FROM
    (
        SELECT *, ({where}) AS wanted,
            max(wanted) OVER (PARTITION BY project, session_id, trace_id) AS with_wanted
        FROM {turns} AS t
        WHERE (project, session_id) IN
            (SELECT arrayJoin(page).1 AS project, arrayJoin(page).2 AS session)
    ) AS t
    WHERE wanted OR (parent_turn_id != '' AND with_wanted)
    GROUP BY project, session_id
)
ORDER BY {order}
LIMIT {limit:UInt32}
