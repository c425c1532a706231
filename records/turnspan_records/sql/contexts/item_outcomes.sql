SELECT kept, if(outcome = '', 'not judged', outcome) AS ended, count() AS turns
FROM
(
    SELECT turn_id, max(kept) AS kept FROM context_item
    WHERE project = {project:String} AND item_id = {item:String} AND turn_id != ''
        AND reason != 'duplicate'
    GROUP BY turn_id
) AS i
LEFT JOIN
(
    SELECT subject_id, outcome FROM annotation_current
    WHERE project = {project:String} AND subject_kind = 'turn' AND kind = 'outcome'
) AS j ON j.subject_id = i.turn_id
GROUP BY kept, ended ORDER BY kept DESC, turns DESC, ended
