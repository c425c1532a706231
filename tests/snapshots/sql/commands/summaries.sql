SELECT uniqExact(project, session_id)
FROM turn_summary
WHERE (session_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (empty({sessions:Array(String)}) OR (session_id IN ({sessions:Array(String)}))) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')});

SELECT
 project,
 session_id
FROM turn_summary
WHERE ((project, session_id) > ({after_project:String}, {after:String})) AND (session_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (empty({sessions:Array(String)}) OR (session_id IN ({sessions:Array(String)}))) AND (start_time >= {since:DateTime64(9, 'UTC')}) AND (start_time < {until:DateTime64(9, 'UTC')})
GROUP BY
 project,
 session_id
ORDER BY
 project ASC,
 session_id ASC
LIMIT {limit:UInt32};

SELECT
 session_id,
 turn_id,
 parent_turn_id,
 start_time,
 duration,
 status,
 user_id,
 agent_name,
 leftUTF8(user_message, {asked:UInt32}) AS asked,
 stop_reason,
 stop_detail,
 rounds,
 llm_call_count AS calls,
 tool_call_count AS tools,
 tool_error_count AS tool_errors,
 input_tokens,
 output_tokens,
 cost_usd,
 models,
 error_type
FROM turn_summary
WHERE (project = {project:String}) AND (session_id IN ({sessions:Array(String)}))
ORDER BY
 session_id ASC,
 start_time ASC,
 turn_id ASC;

SELECT
 session_id,
 groupUniqArray(target) AS targets
FROM artifact
WHERE (project = {project:String}) AND (session_id IN ({sessions:Array(String)}))
GROUP BY session_id;

SELECT
 subject_kind,
 subject_id,
 kind,
 outcome,
 training_flag,
 score
FROM annotation_current
WHERE (project = {project:String}) AND (subject_kind IN ('turn', 'session')) AND (subject_id IN ({ids:Array(String)})) AND (kind IN ('outcome', 'training_flag', 'score'));
