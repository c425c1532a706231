SELECT DISTINCT arrayJoin(splitByChar(',', attributes['turnspan.context.id'])) AS id
FROM llm_call
WHERE (project = {project:String}) AND (({trace:String} != '') OR (session_id = {session:String})) AND (({turn:String} = '') OR (turn_id = {turn:String})) AND (({trace:String} = '') OR (trace_id = {trace:String})) AND (({call:String} = '') OR (span_id = {call:String})) AND ((attributes['turnspan.context.id']) != '');
