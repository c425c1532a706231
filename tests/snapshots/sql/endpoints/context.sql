SELECT
 assembly_id AS id,
 project,
 service,
 environment,
 session_id,
 turn_id,
 trace_id,
 start_time,
 duration,
 status,
 agent_name,
 task_type,
 entities,
 budget,
 used,
 used_estimated,
 considered,
 kept,
 dropped,
 bypassed,
 bypass_reason,
 error_type,
 lower(hex(context_hash)) AS context_hash,
 step_names,
 step_durations,
 step_errors
FROM context_assembly
WHERE (project = {project:String}) AND (assembly_id IN ({ids:Array(String)}))
ORDER BY
 start_time ASC,
 id ASC;

SELECT
 assembly_id,
 item_id AS id,
 position,
 section,
 source,
 tokens,
 tokens_estimated,
 score,
 kept,
 reason,
 hop,
 requires_depth,
 lower(hex(content_hash)) AS content_hash
FROM context_item
WHERE (project = {project:String}) AND (session_id IN ({sessions:Array(String)})) AND (assembly_id IN ({ids:Array(String)}))
ORDER BY
 assembly_id ASC,
 position ASC,
 id ASC;

SELECT
 span_id,
 splitByChar(',', attributes['turnspan.context.id']) AS used
FROM llm_call
WHERE (project = {project:String}) AND ((attributes['turnspan.context.id']) != '') AND ((session_id IN ({sessions:Array(String)})) OR has({sessions:Array(String)}, '')) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')}) AND hasAny(used, {ids:Array(String)})
ORDER BY
 start_time ASC,
 span_id ASC;

SELECT
 lower(hex(hash)) AS id,
 body
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));
