SELECT
 *,
 toUnixTimestamp64Nano(start_time) AS time,
 arrayMap(h -> lower(hex(h)), input_messages) AS inputs,
 arrayMap(h -> lower(hex(h)), output_messages) AS outputs,
 lower(hex(system_prompt)) AS system,
 lower(hex(tool_definitions)) AS tools,
 lower(hex(context_assembled)) AS context
FROM llm_call
WHERE (project = {project:String}) AND (span_id = {span:String})
LIMIT 1;

SELECT
 lower(hex(hash)) AS id,
 role,
 name,
 parts,
 source,
 dialect
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));

SELECT groupArray(span_id) AS spans
FROM
(
 SELECT span_id
 FROM llm_call
 WHERE (project = {project:String}) AND (session_id = {session:String}) AND ((session_id != '') OR (trace_id = {trace:String}))
 ORDER BY
  start_time ASC,
  span_id ASC
);

SELECT
 lower(hex(hash)) AS id,
 body
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));

SELECT
 if(session_id != '', session_id, trace_id) AS scope,
 provider,
 operation,
 request_parameters,
 arrayMap(h -> lower(hex(h)), input_messages) AS hashes,
 lower(hex(system_prompt)) AS system,
 lower(hex(tool_definitions)) AS tools,
 attributes['server.address'] AS server
FROM llm_call
WHERE (project = {project:String}) AND (span_id = {span:String})
LIMIT 1;

SELECT
 lower(hex(hash)) AS id,
 body,
 source
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));
