SELECT
 if(session_id != '', session_id, trace_id) AS scope,
 arrayMap(h -> lower(hex(h)), input_messages) AS hashes
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
