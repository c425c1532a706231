-- title: Running and interrupted turns
-- question: Which turns have begun and not ended, and which died with their process?
-- remedy: `interrupted` means that the process ended first (a crash, a kill, a missing turnspan.shutdown()); a turn that runs for hours hangs in a tool or waits for a person.
WITH unfinished AS
    (
        SELECT * FROM {turns} AS t
        WHERE parent_turn_id = ''
            AND status IN ('running', 'interrupted')
            AND {chosen:start_time}
    )
SELECT
    start_time AS time,
    status,
    project,
    session_id AS session,
    turn_id AS turn,
    agent_name AS agent,
    if(status = 'running', greatest(dateDiff('millisecond', start_time, now64(3)), 0) / 1000, nullIf(duration, 0)) AS age_seconds,
    writer,
    leftUTF8(user_message, 240) AS user_message
FROM unfinished
-- First when they began, with what it takes to order them; the rest is read for those few only.
WHERE start_time IN
    (SELECT start_time FROM unfinished ORDER BY status = 'running' DESC, start_time DESC LIMIT {limit:UInt32})
ORDER BY status = 'running' DESC, time DESC, turn
LIMIT {limit:UInt32}
