-- How often this reviewer's outcome is that of the passive signal.
SELECT count(), countIf(outcome = found) FROM ({_own}) AS o
INNER JOIN
(
    SELECT project, subject_id, argMax(outcome, at) AS found
    FROM (SELECT *, (toUnixTimestamp64Nano(created_at), annotation_id) AS at FROM annotation)
    WHERE subject_kind = 'turn' AND kind = 'outcome' AND startsWith(author, 'passive:')
        AND outcome != 'pending' AND {not_withdrawn}
    GROUP BY project, subject_id
) AS p ON o.project = p.project AND o.subject_id = p.subject_id
WHERE kind = 'outcome' AND outcome != 'pending' AND {_of_queue}
