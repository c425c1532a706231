SELECT
 project,
 count() AS turns
FROM turn_summary
GROUP BY project
ORDER BY
 turns DESC,
 project ASC
LIMIT {limit:UInt32};
