-- The project, id and start of a session's newest turn.
SELECT project, turn_id, toUnixTimestamp64Nano(start_time) FROM turn_summary
WHERE session_id = {session:String} AND parent_turn_id = '' ORDER BY start_time DESC LIMIT 1
