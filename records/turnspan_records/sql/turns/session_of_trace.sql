SELECT session_id FROM turn_summary
WHERE project = {project:String} AND trace_id = {trace:String} AND session_id != ''
UNION ALL
SELECT session_id FROM llm_call
WHERE project = {project:String} AND trace_id = {trace:String} AND session_id != ''
LIMIT 1
