-- Of what matches the project: how much there is, how much of it in the window, and the newest.
SELECT count() AS found, countIf(within) AS inside, max(start_time) AS newest,
    countIf(within AND session_id != '') AS with_session, countIf(within AND is_turn) AS turns
FROM (
    SELECT start_time, session_id, is_turn,
        start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
            AS within
    FROM (
        SELECT start_time, session_id, project, true AS is_turn FROM turn_summary
        UNION ALL SELECT start_time, session_id, project, false FROM llm_call
    )
    WHERE {project:String} = '' OR project = {project:String}
)
