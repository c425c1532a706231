-- title: Premature stops
-- question: Which turns ended in fewer than three rounds without completing?
-- remedy: Replay the session; stop_detail says what the rule saw. A cluster of one reason on one agent is a bug in its loop or its prompt.
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
FROM turn_summary AS t
WHERE parent_turn_id = ''
    AND status != 'running'
    AND stop_reason != 'completed'
    AND rounds < 3
    AND ({project:String} = '' OR project = {project:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
ORDER BY time DESC, turn
LIMIT {limit:UInt32}
