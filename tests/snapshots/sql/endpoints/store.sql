SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 project,
 count() AS turns
FROM turn_summary AS t
GROUP BY project
ORDER BY
 turns DESC,
 project ASC
LIMIT {limit:UInt32};
