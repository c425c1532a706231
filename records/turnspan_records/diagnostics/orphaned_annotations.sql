-- title: Orphaned annotations
-- question: Which judgments are about records that never landed?
-- remedy: Check the judged id: it must be whole, lowercase hex as Jaeger shows it, and of the named kind. If the turn's process is still shipping, run this again later. `turnspan diagnose versions` does not count such scores.
WITH
    judged AS
    (
        SELECT project, subject_kind, subject_id, kind, author, created_at
        FROM annotation
        WHERE (project, subject_kind, kind, subject_id, annotation_id) NOT IN
                (SELECT project, subject_kind, kind, subject_id, annotation_id FROM annotation_withdrawn)
            AND {chosen:created_at}
    ),
    -- Of the records only the ids that were judged are kept: a set of all of them would be gigabytes.
    -- Ids do not differ between the versions of a record: no FINAL.
    landed AS
    (
        SELECT 'turn' AS landed_kind, turn_id AS landed_id FROM turn_summary
        WHERE turn_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'turn')
        UNION ALL
        SELECT 'call', span_id FROM llm_call
        WHERE span_id IN (SELECT subject_id FROM judged WHERE subject_kind IN ('call', 'llm_call'))
        UNION ALL
        SELECT 'tool', span_id FROM tool_call
        WHERE span_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'tool')
        UNION ALL
        SELECT 'span', span_id FROM span
        WHERE span_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'span')
        UNION ALL
        SELECT 'session', session_id FROM turn_summary
        WHERE session_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'session')
        UNION ALL
        SELECT 'attempt', attempt_id FROM attempt
        WHERE attempt_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'attempt')
        UNION ALL
        SELECT 'artifact', artifact_id FROM artifact
        WHERE artifact_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'artifact')
        UNION ALL
        SELECT 'consortium', consortium_id FROM consortium
        WHERE consortium_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'consortium')
        UNION ALL
        SELECT 'consortium', consortium_id FROM llm_call
        WHERE consortium_id != ''
            AND consortium_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'consortium')
        UNION ALL
        SELECT 'session', session_id FROM llm_call
        WHERE session_id IN (SELECT subject_id FROM judged WHERE subject_kind = 'session')
    )
SELECT
    subject_kind,
    subject_id,
    arraySort(groupUniqArray(kind)) AS kinds,
    any(author) AS by,
    min(created_at) AS first_time,
    project AS of_project
FROM judged
WHERE subject_kind IN ('turn', 'call', 'llm_call', 'tool', 'span', 'session', 'attempt', 'artifact',
        'consortium')
    AND (if(subject_kind = 'llm_call', 'call', subject_kind), subject_id)
        NOT IN (SELECT landed_kind, landed_id FROM landed SETTINGS final = 0)
GROUP BY subject_kind, subject_id, of_project
ORDER BY first_time DESC
LIMIT {limit:UInt32}
