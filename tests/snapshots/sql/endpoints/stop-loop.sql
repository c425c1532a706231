SELECT
 session_id,
 trace_id,
 status,
 stop_reason,
 stop_detail,
 rounds,
 max_rounds,
 silent_rounds,
 max_identical_tool_streak,
 no_progress_rounds,
 tool_call_count,
 tool_error_count,
 error_type,
 error_message
FROM turn_summary
WHERE (project = {project:String}) AND (turn_id = {turn:String})
ORDER BY start_time ASC
LIMIT 1;

SELECT
 span_id,
 round,
 arrayStringConcat(finish_reasons, ', ') AS finish,
 error_type,
 stream_outcome,
 match(response_text, '\\S') AS spoke
FROM llm_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 span_id,
 name,
 round,
 failed,
 error_type,
 leftUTF8(error_message, 200) AS error_message,
 sipHash64(name, arguments) AS asked,
 sipHash64(result) AS given
FROM tool_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
ORDER BY
 start_time ASC,
 span_id ASC;
