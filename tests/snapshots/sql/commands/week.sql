WITH
 turns AS
 (
  SELECT
   *,
   coalesce(nullIf(attributes['vcs.repository.name'], ''), toString(project)) AS repository,
   coalesce(nullIf(toString(task_type), ''), toString(turn_intent)) AS task
  FROM turn_summary
  WHERE (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 by,
 name,
 turns,
 took_seconds,
 cost_usd,
 round(toFloat64(cost_usd) / nullIf(sum(toFloat64(cost_usd)) OVER (PARTITION BY by), 0), 4) AS cost_share,
 turn
FROM
(
 SELECT
  dimension.1 AS by,
  if((dimension.2) = '', 'not named', dimension.2) AS name,
  uniqExact(turn_id) AS turns,
  round(sum(duration), 3) AS took_seconds,
  sum(t.cost_usd) AS cost_usd,
  argMax(turn_id, (ifNull(t.cost_usd, 0), turn_id)) AS turn
 FROM turns AS t
 ARRAY JOIN [('repository', repository), ('agent', toString(agent_name)), ('task', task)] AS dimension
 GROUP BY
  by,
  name
 UNION ALL
 SELECT
  'model' AS by,
  if(response_model != '', toString(response_model), transform(concat(project, '\n', toString(request_model), '\n', toString(toDate(start_time))), ((
   SELECT (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
   FROM
   (
    SELECT
     concat(of, '\n', toString(request), '\n', if(by_day, toString(toDate(newest)), '')) AS asked,
     argMaxIf(toString(answer), newest, answer != '') AS answered
    FROM
    (
     SELECT
      any(project) AS of,
      any(request_model) AS request,
      any(response_model) AS answer,
      max(start_time) AS newest
     FROM llm_call
     WHERE (({project:String} = '') OR (project = {project:String})) AND (start_time >= ({since:DateTime64(9, 'UTC')} - toIntervalDay(30))) AND (start_time < {until:DateTime64(9, 'UTC')})
     GROUP BY ((cityHash64(project) + (3 * cityHash64(request_model))) + (5 * cityHash64(response_model))) + toUInt16(toDate(start_time))
    )
    ARRAY JOIN [true, false] AS by_day
    GROUP BY asked
    HAVING (countIf(answer = '') > 0) AND (answered != '')
   )
  ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS name,
  uniqExact(turn_id) AS turns,
  round(sum(duration), 3) AS took_seconds,
  sum(c.cost_usd) AS cost_usd,
  argMax(turn_id, (ifNull(c.cost_usd, 0), turn_id)) AS turn
 FROM llm_call AS c
 WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY
  by,
  name
)
ORDER BY
 indexOf(['repository', 'agent', 'model', 'task'], by) ASC,
 cost_usd DESC,
 took_seconds DESC,
 name ASC
LIMIT {limit:UInt32} BY by;

WITH
 turns AS
 (
  SELECT
   session_id,
   any(coalesce(nullIf(attributes['vcs.repository.name'], ''), toString(project))) AS repository,
   any(toString(agent_name)) AS agent
  FROM turn_summary
  WHERE (parent_turn_id = '') AND (session_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  GROUP BY session_id
 ),
 facts AS
 (
  SELECT
   session_id,
   attributes['turnspan.coding.metric'] AS what,
   max(toFloat64OrZero(attributes['turnspan.coding.metric.value'])) AS value
  FROM span
  PREWHERE name = 'coding.metric'
  WHERE ((session_id IN (
   SELECT session_id
   FROM turns
  )) OR ({project:String} IN ('', project))) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  GROUP BY
   session_id,
   what,
   attributes['turnspan.coding.metric.series']
  UNION ALL
  SELECT
   session_id,
   if(((attributes['turnspan.coding.decision']) = 'reject') OR (error_type = 'rejected'), 'tools_rejected', 'tools_accepted') AS what,
   1 AS value
  FROM tool_call
  WHERE (((attributes['turnspan.coding.decision']) != '') OR (error_type = 'rejected')) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 replaceAll(what, '_', ' ') AS counted,
 if(repository = '', 'not named', repository) AS repository,
 if(agent = '', 'not named', agent) AS agent,
 round(sum(value), 1) AS amount,
 uniqExact(session_id) AS sessions,
 argMax(session_id, (value, session_id)) AS session
FROM facts
LEFT JOIN turns USING (session_id)
GROUP BY
 what,
 repository,
 agent
ORDER BY
 endsWith(what, '_seconds') DESC,
 position(what, 'lines_') > 0 DESC,
 what ASC,
 amount DESC,
 repository ASC,
 agent ASC
LIMIT {limit:UInt32} BY what;

SELECT
 task,
 end AS stop_reason,
 turns,
 turns / whole AS share,
 cost_usd,
 tool AS failing_tool,
 turn
FROM
(
 SELECT
  task,
  end,
  count() AS turns,
  sum(turns) OVER (PARTITION BY task) AS whole,
  sum(t.cost_usd) AS cost_usd,
  arrayElement(topKArray(1)(failing), 1) AS tool,
  argMax(turn_id, (start_time, turn_id)) AS turn
 FROM
 (
  SELECT
   *,
   if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS end,
   failed.tools AS failing,
   coalesce(nullIf(toString(task_type), ''), nullIf(toString(turn_intent), ''), 'not named') AS task
  FROM turn_summary AS t
  LEFT JOIN
  (
   SELECT
    project,
    turn_id,
    groupUniqArray(20)(toString(name)) AS tools
   FROM tool_call
   WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
   GROUP BY
    project,
    turn_id
  ) AS failed USING (project, turn_id)
  WHERE (parent_turn_id = '') AND (status != 'running') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 ) AS t
 GROUP BY
  task,
  end
)
WHERE end != 'completed'
ORDER BY
 turns DESC,
 task ASC,
 stop_reason ASC
LIMIT {limit:UInt32};

SELECT
 tool,
 failures,
 calls,
 failures / calls AS failure_rate,
 said_failures,
 turns,
 usual_error,
 leftUTF8(error_message, 240) AS last_error,
 last_time,
 span_id AS last_span
FROM
(
 SELECT
  name,
  start_time,
  if(failed, t.error_message, result) AS error_message,
  span_id
 FROM tool_call AS t
 WHERE (failed OR match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b')) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
) AS failed_call
ANY RIGHT JOIN
(
 SELECT
  name AS tool,
  countIf(failed) AS failures,
  countIf((NOT failed) AND match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b')) AS said_failures,
  count() AS calls,
  uniqCombinedIf(turn_hash, failed) AS turns,
  topKIf(1)(error_type, failed AND (error_type != ''))[1] AS usual_error,
  if(failures > 0, maxIf(start_time, failed), maxIf(start_time, match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b'))) AS last_time
 FROM tool_call
 WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY tool
 HAVING (failures + said_failures) > 0
 ORDER BY
  failures DESC,
  said_failures DESC,
  tool ASC
 LIMIT {limit:UInt32}
) AS failing ON (failed_call.name = failing.tool) AND (failed_call.start_time = failing.last_time)
ORDER BY
 failures DESC,
 said_failures DESC,
 tool ASC;

WITH
 looping AS
 (
  SELECT
   *,
   greatest(max_identical_tool_streak, no_progress_rounds) AS repeated
  FROM turn_summary AS t
  WHERE ((max_identical_tool_streak >= 3) OR (no_progress_rounds >= 3) OR startsWith(t.stop_reason, 'loop_detected:')) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
 if(t.stop_detail != '', t.stop_detail, arrayStringConcat(arraySlice(splitByChar(':', t.stop_reason), 2), ':')) AS detail,
 greatest(max_identical_tool_streak, toUInt32OrZero(extract(t.stop_reason, '^loop_detected:.* called ([0-9]+) times'))) AS identical_calls,
 no_progress_rounds AS idle_rounds,
 rounds,
 tool_call_count AS tools,
 t.cost_usd AS cost_usd,
 leftUTF8(user_message, 240) AS user_message
FROM looping AS t
WHERE start_time IN (
 SELECT start_time
 FROM looping
 ORDER BY
  repeated DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 repeated DESC,
 time DESC,
 turn ASC
LIMIT {limit:UInt32};

WITH
 recorded AS
 (
  SELECT
   project,
   session_id,
   turn_id,
   moment AS at,
   said['turnspan.coding.compaction.trigger'] AS trigger,
   toUInt64OrNull(said['turnspan.coding.compaction.tokens_before']) AS tokens
  FROM
  (
   SELECT
    project,
    session_id,
    turn_id,
    start_time AS moment,
    attributes AS said
   FROM span
   WHERE (name = 'compaction') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
   UNION ALL
   SELECT
    project,
    session_id,
    turn_id,
    start_time AS moment,
    CAST(JSONExtract(event, 'attributes', 'Map(String, String)'), 'Map(String, String)') AS said
   FROM span
   ARRAY JOIN JSONExtractArrayRaw(events) AS event
   WHERE (position(events, 'compaction') > 0) AND (JSONExtractString(event, 'name') = 'compaction') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  )
 ),
 shrunk AS
 (
  SELECT
   project,
   session_id,
   turn_id,
   start_time AS at,
   'not recorded' AS trigger,
   before AS tokens
  FROM
  (
   SELECT
    project,
    session_id,
    turn_id,
    start_time,
    input_tokens,
    lagInFrame(input_tokens) OVER (PARTITION BY project, session_id, agent_name ORDER BY start_time ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
   FROM llm_call
   WHERE (session_id != '') AND isNotNull(input_tokens) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  )
  WHERE (before > 10000) AND ((input_tokens * 2) < before) AND ((project, session_id) NOT IN (
   SELECT
    project,
    session_id
   FROM recorded
  ))
 ),
 repeated AS
 (
  SELECT
   project,
   session_id,
   any(name) AS tool,
   any(leftUTF8(arguments, 120)) AS given,
   any(length(result)) AS size,
   groupArray(start_time) AS times
  FROM tool_call
  WHERE (NOT failed) AND (session_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  GROUP BY
   project,
   session_id,
   cityHash64(name, arguments)
  HAVING count() > 1
 )
SELECT
 c.at AS time,
 c.project AS project,
 c.session_id AS session,
 any(c.turn_id) AS turn,
 any(c.trigger) AS trigger,
 any(c.tokens) AS tokens_before,
 countIf(again) AS repeated_calls,
 sumIf(r.size, again) AS repeated_bytes,
 arrayStringConcat(arraySlice(arraySort(groupArrayIf(concat(r.tool, ' ', r.given), again)), 1, 3), '; ') AS example_arguments
FROM
(
 SELECT *
 FROM recorded
 UNION ALL
 SELECT *
 FROM shrunk
) AS c
LEFT JOIN repeated AS r ON (r.project = c.project) AND (r.session_id = c.session_id)
ARRAY JOIN [arrayExists(one -> (one < c.at), r.times) AND arrayExists(one -> (one > c.at), r.times)] AS again
GROUP BY
 time,
 project,
 session
ORDER BY
 tokens_before DESC,
 time ASC,
 session ASC
LIMIT {limit:UInt32};

SELECT
 said AS times,
 in_sessions AS sessions,
 prompt AS user_message,
 CAST(correction, 'Bool') AS correction,
 cost_of_all AS cost_usd,
 last_time,
 last_turn AS turn
FROM
(
 SELECT
  argMax(example, (times, example)) AS prompt,
  sum(times) AS said,
  length(groupUniqArrayArray(200)(sessions)) AS in_sessions,
  max(last) AS last_time,
  argMax(turn, (last, turn)) AS last_turn,
  sum(cost) AS cost_of_all,
  max(complaint) = 1 AS correction
 FROM
 (
  SELECT
   any(one.times) AS times,
   any(one.example) AS example,
   any(one.sessions) AS sessions,
   any(one.last) AS last,
   any(one.turn) AS turn,
   any(one.cost) AS cost,
   any(one.complaint) AS complaint,
   argMax(other.words, (other.times, other.words)) AS leader
  FROM
  (
   SELECT
    arraySort(arrayDistinct(extractAll(lowerUTF8(leftUTF8(user_message, 2000)), '\\p{L}{3,}'))) AS words,
    count() AS times,
    min(leftUTF8(user_message, 240)) AS example,
    groupUniqArray(200)(session_id) AS sessions,
    max(start_time) AS last,
    argMax(turn_id, (start_time, turn_id)) AS turn,
    sum(t.cost_usd) AS cost,
    max(match(user_message, '(?i)(^\\W*(no|nope|wrong|stop|undo|revert|not)\\b|\\b(don.?t|do not|didn.?t|doesn.?t|isn.?t|not what|instead of|wrong|incorrect|still (broken|fails|failing|not)|i (said|told|asked)|again you|you (forgot|missed|broke)|undo|revert|as i said|should (not|have))\\b)')) AS complaint
   FROM turn_summary AS t
   WHERE (parent_turn_id = '') AND (user_message != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
   GROUP BY words
   HAVING length(words) > 3
   ORDER BY
    times DESC,
    last DESC,
    words ASC
   LIMIT 1000
  ) AS one
  CROSS JOIN
  (
   SELECT
    arraySort(arrayDistinct(extractAll(lowerUTF8(leftUTF8(user_message, 2000)), '\\p{L}{3,}'))) AS words,
    count() AS times,
    min(leftUTF8(user_message, 240)) AS example,
    groupUniqArray(200)(session_id) AS sessions,
    max(start_time) AS last,
    argMax(turn_id, (start_time, turn_id)) AS turn,
    sum(t.cost_usd) AS cost,
    max(match(user_message, '(?i)(^\\W*(no|nope|wrong|stop|undo|revert|not)\\b|\\b(don.?t|do not|didn.?t|doesn.?t|isn.?t|not what|instead of|wrong|incorrect|still (broken|fails|failing|not)|i (said|told|asked)|again you|you (forgot|missed|broke)|undo|revert|as i said|should (not|have))\\b)')) AS complaint
   FROM turn_summary AS t
   WHERE (parent_turn_id = '') AND (user_message != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
   GROUP BY words
   HAVING length(words) > 3
   ORDER BY
    times DESC,
    last DESC,
    words ASC
   LIMIT 1000
  ) AS other
  WHERE (length(arrayIntersect(one.words, other.words)) * 3) >= (length(arrayDistinct(arrayConcat(one.words, other.words))) * 2)
  GROUP BY one.words
 )
 GROUP BY leader
 HAVING said > 1
)
ORDER BY
 times DESC,
 last_time DESC,
 turn ASC
LIMIT {limit:UInt32};

SELECT
 times,
 sessions,
 kind,
 text,
 instead_of_text,
 turn
FROM
(
 SELECT
  said AS times,
  in_sessions AS sessions,
  if(correction, 'correction', 'prompt') AS kind,
  '' AS instead_of_text,
  prompt AS text,
  last_turn AS turn
 FROM
 (
  SELECT
   argMax(example, (times, example)) AS prompt,
   sum(times) AS said,
   length(groupUniqArrayArray(200)(sessions)) AS in_sessions,
   max(last) AS last_time,
   argMax(turn, (last, turn)) AS last_turn,
   sum(cost) AS cost_of_all,
   max(complaint) = 1 AS correction
  FROM
  (
   SELECT
    any(one.times) AS times,
    any(one.example) AS example,
    any(one.sessions) AS sessions,
    any(one.last) AS last,
    any(one.turn) AS turn,
    any(one.cost) AS cost,
    any(one.complaint) AS complaint,
    argMax(other.words, (other.times, other.words)) AS leader
   FROM
   (
    SELECT
     arraySort(arrayDistinct(extractAll(lowerUTF8(leftUTF8(user_message, 2000)), '\\p{L}{3,}'))) AS words,
     count() AS times,
     min(leftUTF8(user_message, 240)) AS example,
     groupUniqArray(200)(session_id) AS sessions,
     max(start_time) AS last,
     argMax(turn_id, (start_time, turn_id)) AS turn,
     sum(t.cost_usd) AS cost,
     max(match(user_message, '(?i)(^\\W*(no|nope|wrong|stop|undo|revert|not)\\b|\\b(don.?t|do not|didn.?t|doesn.?t|isn.?t|not what|instead of|wrong|incorrect|still (broken|fails|failing|not)|i (said|told|asked)|again you|you (forgot|missed|broke)|undo|revert|as i said|should (not|have))\\b)')) AS complaint
    FROM turn_summary AS t
    WHERE (parent_turn_id = '') AND (user_message != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
    GROUP BY words
    HAVING length(words) > 3
    ORDER BY
     times DESC,
     last DESC,
     words ASC
    LIMIT 1000
   ) AS one
   CROSS JOIN
   (
    SELECT
     arraySort(arrayDistinct(extractAll(lowerUTF8(leftUTF8(user_message, 2000)), '\\p{L}{3,}'))) AS words,
     count() AS times,
     min(leftUTF8(user_message, 240)) AS example,
     groupUniqArray(200)(session_id) AS sessions,
     max(start_time) AS last,
     argMax(turn_id, (start_time, turn_id)) AS turn,
     sum(t.cost_usd) AS cost,
     max(match(user_message, '(?i)(^\\W*(no|nope|wrong|stop|undo|revert|not)\\b|\\b(don.?t|do not|didn.?t|doesn.?t|isn.?t|not what|instead of|wrong|incorrect|still (broken|fails|failing|not)|i (said|told|asked)|again you|you (forgot|missed|broke)|undo|revert|as i said|should (not|have))\\b)')) AS complaint
    FROM turn_summary AS t
    WHERE (parent_turn_id = '') AND (user_message != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
    GROUP BY words
    HAVING length(words) > 3
    ORDER BY
     times DESC,
     last DESC,
     words ASC
    LIMIT 1000
   ) AS other
   WHERE (length(arrayIntersect(one.words, other.words)) * 3) >= (length(arrayDistinct(arrayConcat(one.words, other.words))) * 2)
   GROUP BY one.words
  )
  GROUP BY leader
  HAVING said > 1
 )
 WHERE correction OR (in_sessions > 1)
 UNION ALL
 SELECT
  count() AS times,
  uniqExact(session_id) AS sessions,
  'command' AS kind,
  argMax(failing, (at, turn_id)) AS instead_of_text,
  argMax(working, (at, turn_id)) AS text,
  argMax(turn_id, (at, turn_id)) AS turn
 FROM
 (
  SELECT
   project,
   session_id,
   turn_id,
   tool,
   program,
   failed,
   form AS working,
   start_time AS at,
   lagInFrame(failed) OVER w AS failed_before,
   lagInFrame(form) OVER w AS failing,
   words,
   lagInFrame(words) OVER w AS words_before
  FROM
  (
   SELECT
    project,
    session_id,
    turn_id,
    start_time,
    failed,
    toString(name) AS tool,
    coalesce(nullIf(JSONExtractString(arguments, 'command'), ''), nullIf(arrayStringConcat(JSONExtract(arguments, 'command', 'Array(String)'), ' '), ''), nullIf(JSONExtractString(arguments, 'cmd'), ''), '') AS command,
    leftUTF8(command, 240) AS form,
    splitByWhitespace(replaceRegexpOne(command, '^(bash -lc )?(cd [^&;]+(&&|;) *)?((sudo|npx|env|uv run|poetry run|pnpm|yarn|[A-Z_]+=\\S+|(\\S*/)?python3? -m) +)*(\\S*/)?', '')) AS words,
    words[1] AS program
   FROM tool_call
   WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  )
  WHERE program NOT IN ('', 'rg', 'grep', 'egrep', 'test', '[', 'diff', 'cmp', 'which', 'find', 'ls')
  WINDOW w AS (PARTITION BY project, turn_id, program ORDER BY start_time ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
 )
 WHERE failed_before AND (NOT failed) AND (failing != working) AND ((length(arrayIntersect(words, words_before)) * 3) >= (length(arrayDistinct(arrayConcat(words, words_before))) * 2))
 GROUP BY
  project,
  tool,
  program
 HAVING times > 1
)
ORDER BY
 times DESC,
 kind ASC,
 text ASC
LIMIT {limit:UInt32};
