-- title: Orphaned annotations
-- question: Which judgments are about something that never landed?
-- remedy: Look at the id that was judged: ids are whole, lowercase hex, as Jaeger shows them, and of the kind that is named. If the turn's process is still shipping, ask again later.
SELECT
    subject_kind,
    subject_id,
    arraySort(groupUniqArray(kind)) AS kinds,
    any(author) AS by,
    min(created_at) AS first_time,
    project AS of_project
FROM annotation
WHERE ({project:String} = '' OR project = {project:String})
    AND created_at >= {since:DateTime64(9, 'UTC')} AND created_at < {until:DateTime64(9, 'UTC')}
    AND (
        (subject_kind = 'turn' AND subject_id NOT IN (SELECT turn_id FROM turn_summary))
        OR (subject_kind IN ('call', 'llm_call') AND subject_id NOT IN (SELECT span_id FROM llm_call))
        OR (subject_kind = 'tool' AND subject_id NOT IN (SELECT span_id FROM tool_call))
        OR (subject_kind = 'span' AND subject_id NOT IN (SELECT span_id FROM span))
        OR (subject_kind = 'session' AND subject_id NOT IN (SELECT session_id FROM turn_summary)
            AND subject_id NOT IN (SELECT session_id FROM llm_call))
    )
GROUP BY subject_kind, subject_id, of_project
ORDER BY first_time DESC
LIMIT {limit:UInt32}
