SELECT trace_id, name, arguments, failed
FROM tool_call
WHERE project = {project:String} AND trace_id IN {traces:Array(String)}
    AND start_time >= {since:DateTime64(9, 'UTC')}
ORDER BY start_time, span_id
