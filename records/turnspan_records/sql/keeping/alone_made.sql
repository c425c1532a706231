-- What rows were made under that no row was made under which stays.
SELECT project, [(transform(one.1, {kinds}), one.2)] AS value
FROM (SELECT project, began, owners, arrayJoin(value) AS one FROM ({rows}))
WHERE {one_key} GLOBAL IN ({candidates})
GROUP BY project, one
HAVING min(began <= {until} AND arrayExists(one -> {one_key} GLOBAL IN ({keys}), owners))
