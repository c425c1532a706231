-- The project, id and start of a session's newest turn that began before a time, if the user
-- interrupted it.
SELECT project, turn_id, start FROM (
    SELECT project, turn_id, toUnixTimestamp64Nano(start_time) AS start, stop_reason
    FROM turn_summary
    WHERE session_id = {session:String} AND parent_turn_id = ''
        AND toUnixTimestamp64Nano(start_time) < {before:Int64}
    ORDER BY start DESC LIMIT 1
) WHERE stop_reason = 'user_aborted'
