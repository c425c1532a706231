SELECT project, count() AS turns
FROM {turns} AS t
GROUP BY project
ORDER BY turns DESC, project
LIMIT {limit:UInt32}
