SELECT 'outcome' AS name, toString(outcome) AS value, uniqExact(project, subject_id) AS turns
FROM annotation_current
WHERE subject_kind = 'turn' AND kind = 'outcome'
    AND (project, subject_id) IN
    (
        SELECT project, turn_id FROM turn_summary AS t
        WHERE {where} AND turn_id IN
            (SELECT subject_id FROM annotation WHERE subject_kind = 'turn' AND kind = 'outcome')
    )
GROUP BY value
