SELECT session_id, sum(turns), sum(calls), sum(tools), sum(failures)
FROM (
    SELECT session_id, 1 AS turns, 0 AS calls, 0 AS tools, 0 AS failures
    FROM turn_summary WHERE project = {project:String} AND session_id IN {ids:Array(String)}
    UNION ALL
    SELECT session_id, 0, 1, 0, 0
    FROM llm_call WHERE project = {project:String} AND session_id IN {ids:Array(String)}
    UNION ALL
    SELECT session_id, 0, 0, 1, failed
    FROM tool_call WHERE project = {project:String} AND session_id IN {ids:Array(String)}
)
GROUP BY session_id
