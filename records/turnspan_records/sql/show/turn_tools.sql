SELECT start_time AS time, round, name AS tool, t.duration AS duration_seconds, failed,
    error_type AS error, leftUTF8(arguments, 240) AS arguments, span_id AS span
FROM tool_call AS t
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY time, span
