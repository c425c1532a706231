SELECT project FROM (
    SELECT project, start_time FROM turn_summary
    UNION ALL SELECT project, start_time FROM llm_call
)
GROUP BY project ORDER BY max(start_time) DESC LIMIT 5
