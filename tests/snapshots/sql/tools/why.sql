SELECT
 turn_id,
 project,
 session_id,
 start_time,
 t.duration AS duration,
 agent_name,
 user_message,
 response_text,
 rounds,
 max_rounds,
 llm_call_count,
 tool_call_count,
 tool_error_count,
 t.cost_usd AS cost_usd,
 error_type,
 error_message
FROM turn_summary AS t
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
LIMIT 1;

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

SELECT
 span_id,
 round,
 if(response_model != '', response_model, request_model) AS model,
 start_time,
 finish_reasons,
 tool_calls NOT IN ('', '[]') AS asked_for_tools,
 output_tokens,
 error_type,
 error_message,
 leftUTF8(response_text, {head:UInt32}) AS said
FROM llm_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
ORDER BY
 start_time DESC,
 span_id ASC
LIMIT {limit:UInt32};

SELECT
 span_id,
 round,
 name,
 start_time,
 failed,
 error_type,
 error_message,
 leftUTF8(arguments, {head:UInt32}) AS arguments,
 leftUTF8(result, {head:UInt32}) AS result,
 toString(sipHash64(name, arguments, result)) AS alike
FROM tool_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (turn_id = {turn:String})
ORDER BY
 start_time DESC,
 span_id ASC
LIMIT {limit:UInt32};

SELECT
 turn_id,
 agent_name,
 if(t.status = 'final', t.stop_reason, t.status) AS stop_reason,
 stop_detail
FROM turn_summary AS t
WHERE (project = {project:String}) AND (session_id = {session:String}) AND (parent_turn_id = {turn:String})
ORDER BY
 start_time DESC,
 turn_id ASC
LIMIT {limit:UInt32};
