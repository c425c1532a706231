FROM
(
    SELECT record, project, began, value,
        arrayJoin(arrayMap(one -> {one_key}, arrayFilter(one -> one.2 != '', owners))) AS owner
    FROM ({rows})
    WHERE {ours}
) AS o
GLOBAL INNER JOIN ({keys}) AS k ON k.key = o.owner
WHERE o.began <= k.last
