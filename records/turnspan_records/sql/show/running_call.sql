SELECT *, CAST([], 'Array(FixedString(16))') AS output_messages,
    toFixedString('', 16) AS context_assembled
FROM llm_call_running
WHERE project = {project:String} AND session_id = {session:String} AND span_id = {id:String}
LIMIT 1
