-- title: Loops
-- question: Which turns repeated themselves: the same tool call again and again, or rounds without progress?
-- remedy: Replay the session at the repeated call; often the tool's result does not show the model that nothing changed. Call turn.stop("loop_detected:...") when turn.looping is set.
WITH looping AS
    (
        SELECT *, greatest(max_identical_tool_streak, no_progress_rounds) AS repeated
        FROM turn_summary AS t
        WHERE (max_identical_tool_streak >= 3 OR no_progress_rounds >= 3 OR startsWith(t.stop_reason, 'loop_detected:'))
            AND {chosen:start_time}
    )
SELECT
    start_time AS time,
    project,
    session_id AS session,
    turn_id AS turn,
    agent_name AS agent,
    if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
    if(t.stop_detail != '', t.stop_detail, arrayStringConcat(arraySlice(splitByChar(':', t.stop_reason), 2), ':')) AS detail,
    -- What the verdict counted, in its window of calls, where there is one: not only calls in a row.
    greatest(max_identical_tool_streak,
        toUInt32OrZero(extract(t.stop_reason, '^loop_detected:.* called ([0-9]+) times'))) AS identical_calls,
    no_progress_rounds AS idle_rounds,
    rounds,
    tool_call_count AS tools,
    t.cost_usd AS cost_usd,
    leftUTF8(user_message, 240) AS user_message
FROM looping AS t
-- First when they began, with what it takes to order them; the rest is read for those few only.
WHERE start_time IN
    (SELECT start_time FROM looping ORDER BY repeated DESC, start_time DESC LIMIT {limit:UInt32})
ORDER BY repeated DESC, time DESC, turn
LIMIT {limit:UInt32}
