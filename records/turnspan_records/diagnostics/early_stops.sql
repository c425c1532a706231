-- title: Early stops
-- question: Which turns ended in fewer than three rounds without completing?
-- remedy: Replay the session; stop_detail has the evidence. One reason many times in one agent is a bug in its loop or prompt.
WITH early AS
    (
        SELECT * FROM {turns} AS t
        WHERE rounds < 3
            AND parent_turn_id = ''
            AND status != 'running'
            AND NOT (status = 'final' AND substringIndex(t.stop_reason, ':', 1) = 'completed')
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
    rounds,
    tool_call_count AS tools,
    leftUTF8(user_message, 240) AS user_message
FROM early AS t
-- First when the last of them began, with what it takes to tell; the rest is read from then on only.
WHERE start_time >=
    (
        SELECT min(start_time)
        FROM (SELECT start_time FROM early ORDER BY start_time DESC LIMIT {limit:UInt32})
    )
ORDER BY time DESC, turn
LIMIT {limit:UInt32}
