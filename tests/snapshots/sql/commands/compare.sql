SELECT
 user_message AS asked,
 response_text AS text,
 t.stop_reason AS status,
 agent_name AS agent,
 agent_version AS version,
 '' AS parameters,
 [] AS models,
 start_time,
 t.duration AS duration
FROM turn_summary AS t
WHERE (project = {project:String}) AND (turn_id = {id:String});

SELECT
 kind,
 score
FROM annotation_current
WHERE (project = {project:String}) AND (subject_kind = {kind:String}) AND (subject_id = {id:String}) AND isNotNull(score) AND ((kind = 'score') OR startsWith(kind, 'evaluation:'));

SELECT
 count() AS calls,
 sum(input_tokens) AS input_tokens,
 sum(output_tokens) AS output_tokens,
 sum(c.cost_usd) AS cost_usd,
 lower(hex(argMin(system_prompt, start_time))) AS prompt,
 lower(hex(argMin(tool_definitions, start_time))) AS tools,
 argMin(request_parameters, start_time) AS parameters,
 arraySort(groupUniqArray(if(response_model = '', request_model, response_model))) AS models
FROM llm_call AS c
WHERE (project = {project:String}) AND (turn_id = {id:String}) AND (start_time >= {since:DateTime64(9, 'UTC')});

SELECT
 turn_id,
 session_id,
 trace_id
FROM turn_summary
WHERE (project = {project:String}) AND (turn_id = {id:String})
LIMIT 1;

SELECT
 session_id,
 trace_id,
 turn_id,
 start_time,
 status,
 agent_name,
 agent_version,
 stop_reason,
 attempt_id,
 user_id
FROM turn_summary
WHERE (project = {project:String}) AND (session_id IN ({scopes:Array(String)})) AND (({turn:String} = '') OR (turn_id = {turn:String}))
ORDER BY
 start_time ASC,
 turn_id ASC;

SELECT
 session_id,
 trace_id,
 turn_id,
 span_id,
 start_time,
 operation,
 request_model,
 response_model,
 error_type,
 stream_outcome,
 agent_name,
 agent_version,
 lower(hex(system_prompt)) AS system,
 lower(hex(tool_definitions)) AS tools,
 JSONExtractRaw(request_parameters, 'parallel_tool_calls') AS parallel,
 arrayMap(h -> lower(hex(h)), input_messages) AS inputs,
 arrayMap(h -> lower(hex(h)), output_messages) AS outputs,
 attempt_id,
 finish_reasons,
 consortium_id,
 lineage_id
FROM llm_call
WHERE (project = {project:String}) AND (session_id IN ({scopes:Array(String)})) AND (({turn:String} = '') OR (turn_id = {turn:String})) AND (operation IN ('', 'chat', 'text_completion', 'generate_content'))
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 scope,
 sum(length(parts))
FROM message
WHERE (project = {project:String}) AND (scope IN ({scopes:Array(String)}))
GROUP BY scope;

SELECT
 scope,
 lower(hex(hash)),
 role,
 name,
 parts,
 dialect
FROM message
WHERE (project = {project:String}) AND (scope IN ({scopes:Array(String)}));
