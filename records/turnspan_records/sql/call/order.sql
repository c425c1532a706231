SELECT groupArray(span_id) AS spans FROM (
    SELECT span_id FROM llm_call
    WHERE project = {project:String} AND session_id = {session:String}
        AND (session_id != '' OR trace_id = {trace:String})
    ORDER BY start_time, span_id
)
