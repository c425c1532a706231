-- title: Silent and empty turns
-- question: Which turns worked or ended without telling the user anything?
-- remedy: An empty reply with tools is a loop that ends before the model sums up; for silent rounds, let the agent write to the user in between; empty_no_tools is mostly caused by a prompt or a content filter.
WITH silent AS
    (
        SELECT *, unanswered FROM turn_summary AS t
        WHERE parent_turn_id = ''
            AND status = 'final'
            AND (t.stop_reason IN ('silent_rounds', 'empty_no_tools')
                OR t.silent_rounds >= 30
                -- Without content (capture switched off) an empty reply says nothing.
                OR (t.stop_reason = 'completed' AND unanswered))
            AND {chosen:start_time}
    )
SELECT
    start_time AS time,
    project,
    session_id AS session,
    turn_id AS turn,
    agent_name AS agent,
    t.stop_reason AS stop_reason,
    t.silent_rounds AS silent_rounds,
    rounds,
    tool_call_count AS tools,
    (NOT match(response_text, '\\S'))::Bool AS empty_reply,
    leftUTF8(user_message, 240) AS user_message
FROM silent AS t
-- First when the last of them began, with what it takes to tell; the rest is read from then on only.
WHERE start_time >=
    (
        SELECT min(start_time)
        FROM (SELECT start_time FROM silent ORDER BY start_time DESC LIMIT {limit:UInt32})
    )
ORDER BY time DESC, turn
LIMIT {limit:UInt32}
