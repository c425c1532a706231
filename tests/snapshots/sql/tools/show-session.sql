SELECT
 project,
 session_id,
 any(service) AS service,
 any(environment) AS environment,
 any(user_id) AS user_id,
 min(start_time) AS first_time,
 max(start_time) AS last_time,
 countIf(parent_turn_id = '') AS turns,
 sum(t.rounds) AS rounds,
 sum(llm_call_count) AS calls,
 sum(tool_call_count) AS tools,
 sumIf(t.input_tokens, parent_turn_id = '') AS input_tokens,
 sumIf(t.output_tokens, parent_turn_id = '') AS output_tokens,
 sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
 arraySort(groupUniqArrayArray(t.models)) AS models
FROM turn_summary AS t
WHERE (project = {project:String}) AND (session_id = {session:String})
GROUP BY
 project,
 session_id;

SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 toUnixTimestamp64Nano(min(start_time)),
 toUnixTimestamp64Nano(max(start_time)),
 count()
FROM turn_summary;

WITH
 page AS
 (
  SELECT start_time
  FROM turn_summary AS t
  WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (session_id = {session:String}) AND (({recent:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {recent:DateTime64(9, 'UTC')}))
  ORDER BY
   start_time DESC NULLS LAST,
   turn_id DESC,
   t.project DESC
  LIMIT {limit:UInt32}
 )
SELECT
 start_time AS time,
 (toUnixTimestamp64Nano(start_time), turn_id, t.project) AS place,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 agent_version AS version,
 project,
 service,
 environment,
 trace_id,
 duration,
 input_tokens,
 output_tokens,
 cost_usd,
 error_type,
 user_id,
 status,
 stop_reason,
 rounds,
 models,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS ended,
 leftUTF8(t.stop_detail, 240) AS detail,
 llm_call_count AS calls,
 tool_call_count AS tools,
 tool_error_count AS failed_tools,
 leftUTF8(user_message, 240) AS said,
 leftUTF8(response_text, 240) AS reply
FROM turn_summary AS t
WHERE (start_time IN (
 SELECT start_time
 FROM page
)) AND (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (session_id = {session:String}) AND (({recent:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {recent:DateTime64(9, 'UTC')}))
ORDER BY
 start_time DESC NULLS LAST,
 turn_id DESC,
 t.project DESC
LIMIT {limit:UInt32};

SELECT *
FROM
(
 SELECT
  annotation_id AS id,
  subject_kind,
  subject_id,
  kind,
  outcome,
  training_flag,
  score,
  comment,
  directive,
  chosen_id,
  rejected_id,
  author,
  source,
  confidence,
  ranking_id,
  created_at,
  (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
 FROM annotation
 WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (subject_id = {id:String})
 UNION ALL
 SELECT
  annotation_id AS id,
  subject_kind,
  subject_id,
  kind,
  outcome,
  training_flag,
  score,
  comment,
  directive,
  chosen_id,
  rejected_id,
  author,
  source,
  confidence,
  ranking_id,
  created_at,
  (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')), toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
 FROM annotation
 WHERE (project = {project:String}) AND (subject_kind IN ({kinds:Array(String)})) AND (kind = 'preference') AND (rejected_id = {id:String})
)
ORDER BY
 created_at ASC,
 id ASC;
