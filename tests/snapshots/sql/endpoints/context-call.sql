SELECT DISTINCT arrayJoin(splitByChar(',', attributes['turnspan.context.id'])) AS id
FROM llm_call
WHERE (project = {project:String}) AND (({trace:String} != '') OR (session_id = {session:String})) AND (({turn:String} = '') OR (turn_id = {turn:String})) AND (({trace:String} = '') OR (trace_id = {trace:String})) AND (({call:String} = '') OR (span_id = {call:String})) AND ((attributes['turnspan.context.id']) != '');

SELECT
 if(session_id != '', session_id, trace_id) AS scope,
 input_tokens,
 lower(hex(system_prompt)) AS system,
 lower(hex(tool_definitions)) AS tools,
 arrayMap(h -> lower(hex(h)), input_messages) AS inputs
FROM llm_call
WHERE (project = {project:String}) AND (span_id = {call:String})
LIMIT 1;

SELECT
 lower(hex(hash)) AS id,
 role,
 length(parts) AS bytes,
 position(parts, 'tool_call_response') > 0 AS answers
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String}) AND (hash IN (
 SELECT arrayJoin(input_messages)
 FROM llm_call
 WHERE (project = {project:String}) AND (span_id = {call:String})
));

SELECT
 lower(hex(hash)) AS id,
 length(body)
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));
