SELECT span_id, parent_span_id, name, kind, start_time, duration, status_code, status_message
FROM span
WHERE project = {project:String} AND trace_id = {trace:String}
ORDER BY start_time, span_id
