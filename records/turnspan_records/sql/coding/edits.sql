-- The next calls of tools that edit files, session by session, and what their turns say.
SELECT project, session_id, span_id, turn_id, call_id, name, arguments, toUnixTimestamp64Nano(t.start_time) AS at,
    attributes['turnspan.import.toolUseResult'] AS beside,
    turn.complains AS complains, turn.refused AS refused
FROM tool_call AS t
LEFT JOIN
(
    SELECT project, turn_id, parent_turn_id = '' AND {complains} AS complains,
        turn_id IN
        (
            SELECT subject_id FROM annotation_current
            WHERE subject_kind = 'turn' AND kind = 'outcome' AND outcome IN ('modified', 'rejected')
        ) AS refused
    FROM turn_summary
    WHERE {of_project}
) AS turn USING (project, turn_id)
WHERE (project, session_id, toUnixTimestamp64Nano(t.start_time), span_id)
        > ({after_project:String}, {after_session:String}, {after_time:Int64}, {after_span:String})
    AND {of_project}
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    AND session_id != '' AND call_id != ''
    AND {changes_files}
ORDER BY project, session_id, at, span_id
LIMIT {page:UInt32}
