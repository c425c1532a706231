SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status) AS stop_reason,
 count() AS turns,
 if(stop_reason = 'running', NULL, turns / greatest(sum(countIf(status != 'running')) OVER (), 1)) AS share,
 round(avg(rounds), 1) AS avg_rounds,
 round(avg(tool_call_count), 1) AS avg_tools,
 (quantilesExact(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
 p[2] AS p95_seconds,
 sum(t.cost_usd) AS cost_usd
FROM turn_summary AS t
WHERE (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY stop_reason
ORDER BY
 stop_reason = 'running' ASC,
 turns DESC,
 stop_reason ASC
LIMIT {limit:UInt32};

WITH
 early AS
 (
  SELECT *
  FROM turn_summary AS t
  WHERE (rounds < 3) AND (parent_turn_id = '') AND (status != 'running') AND (NOT ((status = 'final') AND (substringIndex(t.stop_reason, ':', 1) = 'completed'))) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
 if(t.stop_detail != '', t.stop_detail, arrayStringConcat(arraySlice(splitByChar(':', t.stop_reason), 2), ':')) AS detail,
 rounds,
 tool_call_count AS tools,
 leftUTF8(user_message, 240) AS user_message
FROM early AS t
WHERE start_time >= (
 SELECT min(start_time)
 FROM
 (
  SELECT start_time
  FROM early
  ORDER BY start_time DESC
  LIMIT {limit:UInt32}
 )
)
ORDER BY
 time DESC,
 turn ASC
LIMIT {limit:UInt32};

WITH
 unfinished AS
 (
  SELECT *
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND (status IN ('running', 'interrupted')) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 status,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 if(status = 'running', greatest(dateDiff('millisecond', start_time, now64(3)), 0) / 1000, nullIf(duration, 0)) AS age_seconds,
 writer,
 leftUTF8(user_message, 240) AS user_message
FROM unfinished
WHERE start_time IN (
 SELECT start_time
 FROM unfinished
 ORDER BY
  status = 'running' DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 status = 'running' DESC,
 time DESC,
 turn ASC
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
 silent AS
 (
  SELECT
   *,
   unanswered
  FROM turn_summary AS t
  WHERE (parent_turn_id = '') AND (status = 'final') AND ((t.stop_reason IN ('silent_rounds', 'empty_no_tools')) OR (t.silent_rounds >= 30) OR ((t.stop_reason = 'completed') AND unanswered)) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 session_id AS session,
 turn_id AS turn,
 agent_name AS agent,
 t.stop_reason AS stop_reason,
 t.silent_rounds AS silent_rounds,
 rounds,
 tool_call_count AS tools,
 CAST((NOT match(response_text, '\\S')), 'Bool') AS empty_reply,
 leftUTF8(user_message, 240) AS user_message
FROM silent AS t
WHERE start_time >= (
 SELECT min(start_time)
 FROM
 (
  SELECT start_time
  FROM silent
  ORDER BY start_time DESC
  LIMIT {limit:UInt32}
 )
)
ORDER BY
 time DESC,
 turn ASC
LIMIT {limit:UInt32};

WITH
 failures AS
 (
  SELECT
   'model call' AS source,
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
   error_type,
   error_message,
   start_time,
   span_id
  FROM llm_call
  WHERE (error_type != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  UNION ALL
  SELECT
   'tool' AS source,
   name,
   if(error_type != '', error_type, 'failed result') AS error_type,
   error_message,
   start_time,
   span_id
  FROM tool_call
  WHERE failed AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  UNION ALL
  SELECT
   'turn' AS source,
   agent_name AS name,
   error_type,
   error_message,
   start_time,
   span_id
  FROM turn_summary
  WHERE (error_type != '') AND (parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 source,
 name,
 error,
 times,
 first_time,
 last_time,
 span_id AS last_span,
 leftUTF8(error_message, 240) AS last_message
FROM failures
ANY RIGHT JOIN
(
 SELECT
  any(source) AS found_in,
  any(name) AS of_name,
  any(error_type) AS error,
  count() AS times,
  min(start_time) AS first_time,
  max(start_time) AS last_time
 FROM failures
 GROUP BY cityHash64(source, name, error_type)
 ORDER BY
  times DESC,
  found_in ASC,
  of_name ASC,
  error ASC
 LIMIT {limit:UInt32}
) AS kinds ON (source = found_in) AND (name = of_name) AND (error_type = error) AND (start_time = last_time)
ORDER BY
 times DESC,
 source ASC,
 name ASC,
 error ASC;

WITH
 calls AS
 (
  SELECT *
  FROM llm_call
  WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 if(response_model != '', response_model, request_model) AS model,
 c.duration AS duration_seconds,
 time_to_first_chunk AS first_chunk_seconds,
 input_tokens,
 output_tokens,
 if(c.duration > 0, round(output_tokens / c.duration, 1), NULL) AS tokens_per_second,
 tries,
 error_type AS error,
 session_id AS session,
 span_id AS span
FROM calls AS c
WHERE start_time IN (
 SELECT start_time
 FROM calls
 ORDER BY
  duration DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 duration_seconds DESC,
 time DESC,
 span ASC
LIMIT {limit:UInt32};

WITH
 calls AS
 (
  SELECT *
  FROM llm_call
  WHERE (cost_usd IS NOT NULL) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 start_time AS time,
 project,
 if(response_model != '', response_model, request_model) AS model,
 c.cost_usd AS cost_usd,
 input_tokens,
 cache_read_tokens AS cached_tokens,
 output_tokens,
 reasoning_tokens,
 round,
 session_id AS session,
 span_id AS span
FROM calls AS c
WHERE start_time IN (
 SELECT start_time
 FROM calls
 ORDER BY
  cost_usd DESC,
  start_time DESC
 LIMIT {limit:UInt32}
)
ORDER BY
 c.cost_usd DESC,
 time DESC,
 span ASC
LIMIT {limit:UInt32};

SELECT
 toDate(start_time) AS day,
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
 ) AS answers).1, answers.2, transform(concat(project, '\n', toString(request_model), '\n'), answers.1, answers.2, toString(request_model)))) AS model,
 count() AS calls,
 countIf(error_type != '') AS errors,
 sum(c.input_tokens) AS input_tokens,
 sum(c.cache_read_tokens) AS cached_tokens,
 sum(c.output_tokens) AS output_tokens,
 sum(c.reasoning_tokens) AS reasoning_tokens,
 sum(c.cost_usd) AS cost_usd,
 countIf(c.cost_usd IS NULL) AS unpriced,
 (quantilesTDigest(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
 p[2] AS p95_seconds
FROM llm_call AS c
WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY
 day,
 model
ORDER BY
 day DESC,
 calls DESC,
 model ASC
LIMIT {limit:UInt32};

SELECT
 name AS tool,
 count() AS calls,
 uniqCombined(turn_hash) AS turns,
 uniqCombined(session_hash) AS sessions,
 round(calls / turns, 1) AS calls_per_turn,
 countIf(failed) / calls AS failure_rate,
 (quantiles(0.5, 0.95)(duration) AS p)[1] AS p50_seconds,
 p[2] AS p95_seconds,
 sum(duration) AS busy_seconds
FROM tool_call
WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY tool
ORDER BY
 calls DESC,
 tool ASC
LIMIT {limit:UInt32};

SELECT
 project,
 session_id AS session,
 count() AS calls,
 argMin(c.input_tokens, start_time) AS first_input_tokens,
 max(c.input_tokens) AS largest_input_tokens,
 argMax(c.input_tokens, start_time) AS last_input_tokens,
 round((largest_input_tokens - first_input_tokens) / greatest(calls - 1, 1)) AS tokens_added_per_call,
 sum(c.cache_read_tokens) / sum(c.input_tokens) AS cached_share,
 sum(c.cost_usd) AS cost_usd,
 max(start_time) AS last_time
FROM llm_call AS c
WHERE (cityHash64(project, session_id) IN (
 SELECT cityHash64(project, session_id) AS known_by
 FROM llm_call
 WHERE (session_id != '') AND (input_tokens IS NOT NULL) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY known_by
 ORDER BY
  max(assumeNotNull(input_tokens)) - argMin(assumeNotNull(input_tokens), start_time) DESC,
  known_by ASC
 LIMIT {limit:UInt32}
)) AND (input_tokens IS NOT NULL) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
GROUP BY
 project,
 session
ORDER BY
 largest_input_tokens - first_input_tokens DESC,
 session ASC
LIMIT {limit:UInt32};

SELECT
 if(section = '', '(none)', section) AS section,
 uniqCombined(assembly_id) AS contexts,
 countIf(kept) AS kept_items,
 sumIf(assumeNotNull(item_tokens), kept) AS tokens,
 tokens / sum(tokens) OVER () AS token_share,
 tokens / uniqCombinedIf(assembly_id, kept) AS tokens_each,
 countIf(NOT kept) AS dropped_items,
 sumIf(assumeNotNull(item_tokens), NOT kept) AS dropped_tokens,
 dropped_items / count() AS dropped_rate
FROM
(
 SELECT
  section,
  assembly_id,
  kept,
  tokens AS item_tokens
 FROM context_item
 WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
)
GROUP BY section
ORDER BY
 tokens DESC,
 section ASC
LIMIT {limit:UInt32};

SELECT
 if(reason = '', '(not decided)', reason) AS reason,
 if(section = '', '(none)', section) AS section,
 count() AS items,
 sum(assumeNotNull(item_tokens)) AS tokens,
 uniqCombined(assembly_id) AS contexts,
 leftUTF8(arrayStringConcat(topK(3)(item_id), ', '), 240) AS usual_items,
 max(start_time) AS last_time
FROM
(
 SELECT
  reason,
  section,
  item_id,
  assembly_id,
  start_time,
  tokens AS item_tokens
 FROM context_item
 WHERE (NOT kept) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
)
GROUP BY
 reason,
 section
ORDER BY
 items DESC,
 reason ASC,
 section ASC
LIMIT {limit:UInt32};

WITH
 considered AS
 (
  SELECT
   cityHash64(project, turn_id) AS turn_key,
   section,
   item_id,
   reason,
   NOT kept AS left_out,
   (NOT kept) AND (reason != 'duplicate') AS gone
  FROM context_item
  WHERE (turn_id != '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 ),
 (
  SELECT groupArray(section)
  FROM
  (
   SELECT section
   FROM considered
   GROUP BY section
   ORDER BY
    count() DESC,
    section ASC
   LIMIT 60
  )
 ) AS sections,
 (
  SELECT groupArray(reason)
  FROM
  (
   SELECT reason
   FROM considered
   WHERE left_out AND (reason != '')
   GROUP BY reason
   ORDER BY
    count() DESC,
    reason ASC
   LIMIT 60
  )
 ) AS reasons,
 (
  SELECT groupArray(item_id)
  FROM
  (
   SELECT item_id
   FROM considered
   WHERE gone
   GROUP BY item_id
   ORDER BY
    count() DESC,
    item_id ASC
   LIMIT least({limit:UInt32}, 60)
  )
 ) AS items,
 arrayMap(one -> cityHash64(one), items) AS item_keys,
 contexts AS
 (
  SELECT
   turn_key,
   max(gone) AS lost,
   groupBitOr(section_bit) AS had_sections,
   groupBitOr(if(gone, section_bit, 0)) AS lost_sections,
   groupBitOr(item_bit) AS had_items,
   groupBitOr(if(gone, item_bit, 0)) AS lost_items,
   groupBitOr(if(left_out, bitShiftLeft(toUInt64(1), indexOf(reasons, reason)), 0)) AS lost_reasons
  FROM
  (
   SELECT
    *,
    bitShiftLeft(toUInt64(1), indexOf(sections, section)) AS section_bit,
    bitShiftLeft(toUInt64(1), indexOf(item_keys, cityHash64(item_id))) AS item_bit
   FROM considered
  )
  GROUP BY turn_key
 ),
 ended AS
 (
  SELECT
   cityHash64(project, turn_id) AS turn_key,
   multiIf((turn_id IN (
    SELECT subject_id
    FROM annotation_current
    WHERE (subject_kind = 'turn') AND (kind = 'outcome') AND (outcome = 'rejected')
   )), 1, (turn_id IN (
    SELECT subject_id
    FROM annotation_current
    WHERE (subject_kind = 'turn') AND (kind = 'outcome') AND (outcome IN ('used', 'modified'))
   )), 0, t.stop_reason != 'completed') AS badly
  FROM turn_summary AS t
  WHERE (status = 'final') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= ({since:DateTime64(9, 'UTC')} - toIntervalDay(1)))) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 ),
 counted AS
 (
  SELECT
   told.1 AS what,
   told.2 AS name,
   countIf((told.3) = 1) AS lost_turns,
   countIf(((told.3) = 1) AND badly) AS lost_badly,
   count() AS all_turns,
   countIf(badly) AS all_badly
  FROM ended
  INNER JOIN contexts USING (turn_key)
  ARRAY JOIN arrayConcat([('any item', '', toUInt8(lost))], arrayMap(at -> ('section', sections[at], bitTest(lost_sections, at)), arrayFilter(at -> bitTest(had_sections, at), arrayEnumerate(sections))), arrayMap(at -> ('item', items[at], bitTest(lost_items, at)), arrayFilter(at -> bitTest(had_items, at), arrayEnumerate(items))), arrayMap(at -> ('reason', reasons[at], toUInt8(1)), arrayFilter(at -> bitTest(lost_reasons, at), arrayEnumerate(reasons)))) AS told
  GROUP BY
   what,
   name
 ),
 sides AS
 (
  SELECT
   what,
   name,
   lost_turns,
   lost_badly,
   if(what = 'reason', maxIf(all_turns, what = 'any item') OVER (), all_turns) - lost_turns AS other_turns,
   if(what = 'reason', maxIf(all_badly, what = 'any item') OVER (), all_badly) - lost_badly AS other_badly
  FROM counted
 ),
 intervals AS
 (
  SELECT
   *,
   lost_badly / lost_turns AS p,
   other_badly / other_turns AS q,
   3.841458820694124 AS zz,
   (p + (zz / (2 * lost_turns))) / (1 + (zz / lost_turns)) AS p_middle,
   (sqrt(zz) * sqrt(((p * (1 - p)) / lost_turns) + (zz / ((4 * lost_turns) * lost_turns)))) / (1 + (zz / lost_turns)) AS p_half,
   (q + (zz / (2 * other_turns))) / (1 + (zz / other_turns)) AS q_middle,
   (sqrt(zz) * sqrt(((q * (1 - q)) / other_turns) + (zz / ((4 * other_turns) * other_turns)))) / (1 + (zz / other_turns)) AS q_half,
   (lost_turns >= 30) AND (other_turns >= 30) AS enough,
   if(enough, p - q, NULL) AS difference,
   if(enough, (p - q) - sqrt(pow(p - (p_middle - p_half), 2) + pow((q_middle + q_half) - q, 2)), NULL) AS low,
   if(enough, (p - q) + sqrt(pow((p_middle + p_half) - p, 2) + pow(q - (q_middle - q_half), 2)), NULL) AS high
  FROM sides
  WHERE lost_turns > 0
 )
SELECT
 what AS lost,
 name,
 lost_turns,
 if(lost_turns = 0, NULL, p) AS lost_bad_rate,
 other_turns,
 if(other_turns = 0, NULL, q) AS other_bad_rate,
 difference AS difference_rate,
 low AS low_rate,
 high AS high_rate,
 multiIf(NOT enough, 'too few turns', low > 0, 'worse', high < 0, 'better', 'no difference shown') AS verdict
FROM intervals
ORDER BY
 enough DESC,
 low_rate DESC,
 lost_turns DESC,
 lost ASC,
 name ASC
LIMIT {limit:UInt32};

SELECT
 task_type,
 if(bypass_reason = '', '(none given)', bypass_reason) AS reason,
 bypassed_here AS contexts,
 contexts / of_task AS share,
 turns,
 last_time,
 last_one AS assembly
FROM
(
 SELECT
  task_type,
  bypass_reason,
  countIf(bypassed) AS bypassed_here,
  sum(count()) OVER (PARTITION BY task_type) AS of_task,
  uniqCombinedIf(turn_id, bypassed AND (turn_id != '')) AS turns,
  maxIf(start_time, bypassed) AS last_time,
  argMaxIf(assembly_id, start_time, bypassed) AS last_one
 FROM context_assembly
 WHERE (status = 'final') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY
  task_type,
  bypass_reason
)
WHERE contexts > 0
ORDER BY
 contexts DESC,
 task_type ASC,
 reason ASC
LIMIT {limit:UInt32};

SELECT
 calls,
 answers,
 sessions,
 attempts,
 model,
 cost_usd,
 (cost_usd * (calls - 1)) / calls AS again_usd,
 first_time,
 last_time,
 first_span,
 last_span
FROM
(
 SELECT
  cityHash64(project, input_messages, system_prompt, tool_definitions, request_model, request_parameters) AS asked,
  count() AS calls,
  uniqExact(cityHash64(output_messages)) AS answers,
  uniqExactIf(session_id, session_id != '') AS sessions,
  uniqExactIf(attempt_id, attempt_id != '') AS attempts,
  any(request_model) AS model,
  sum(c.cost_usd) AS cost_usd,
  min(start_time) AS first_time,
  max(start_time) AS last_time,
  argMin(span_id, start_time) AS first_span,
  argMax(span_id, start_time) AS last_span
 FROM llm_call AS c
 WHERE (asked IN (
  SELECT cityHash64(project, input_messages, system_prompt, tool_definitions, request_model, request_parameters) AS asked_often
  FROM llm_call
  WHERE notEmpty(input_messages) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  GROUP BY asked_often
  HAVING count() > 1
  ORDER BY count() DESC
  LIMIT {limit:UInt32}
 )) AND notEmpty(input_messages) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY asked
)
ORDER BY
 calls DESC,
 cost_usd DESC,
 last_time DESC
LIMIT {limit:UInt32};

WITH
 arrayMap((n, deviation) -> if(n < 5, NULL, (deviation / sqrt(n)) * (((1.95996 + (2.37227 / (n - 1))) + (2.8225 / pow(n - 1, 2))) + (2.5558 / pow(n - 1, 3)))), [toFloat64(s.judged), toFloat64(v.priced), toFloat64(v.counted), toFloat64(v.turns)], [toNullable(s.deviation), v.cost_deviation, v.tokens_deviation, v.seconds_deviation]) AS half,
 scored AS
 (
  SELECT
   project,
   version,
   count() AS judged,
   avg(unit_score) AS score,
   stddevSamp(unit_score) AS deviation
  FROM
  (
   SELECT
    project,
    version,
    unit,
    if(countIf(kind = 'score') > 0, avgIf(given, kind = 'score'), avg(given)) AS unit_score
   FROM
   (
    SELECT
     project,
     version_id AS version,
     unit,
     kind,
     result_score.score AS given
    FROM result_score
    WHERE version_id != ''
    UNION ALL
    SELECT
     a.project,
     toString(t.agent_version),
     a.subject_id,
     a.kind,
     a.given
    FROM
    (
     SELECT
      project,
      subject_id,
      toString(kind) AS kind,
      assumeNotNull(score) AS given
     FROM annotation_current
     WHERE (subject_kind = 'turn') AND isNotNull(score) AND ((kind = 'score') OR startsWith(kind, 'evaluation:'))
    ) AS a
    INNER JOIN
    (
     SELECT
      project,
      turn_id,
      agent_version
     FROM turn_summary
     WHERE (agent_version != '') AND (turn_id IN (
      SELECT subject_id
      FROM annotation
      WHERE subject_kind = 'turn'
     ))
    ) AS t ON (t.project = a.project) AND (t.turn_id = a.subject_id)
   )
   GROUP BY
    project,
    version,
    unit
  )
  GROUP BY
   project,
   version
 )
SELECT
 v.project AS project,
 v.agent AS agent,
 substring(v.agent_version, 1, 12) AS version,
 v.turns AS turns,
 s.judged AS judged,
 if(s.judged = 0, NULL, round(s.score, 2)) AS score,
 round(s.score - (half[1]), 2) AS score_low,
 round(s.score + (half[1]), 2) AS score_high,
 v.cost AS cost_usd,
 v.cost - (half[2]) AS cost_low_usd,
 v.cost + (half[2]) AS cost_high_usd,
 round(v.tokens) AS tokens,
 round(v.tokens - (half[3])) AS tokens_low,
 round(v.tokens + (half[3])) AS tokens_high,
 v.seconds AS avg_seconds,
 v.seconds - (half[4]) AS low_seconds,
 v.seconds + (half[4]) AS high_seconds,
 v.p95 AS p95_seconds,
 v.completed / v.turns AS completed_rate,
 if(v.turns < 5, NULL, greatest(0, ((completed_rate + (1.9207 / v.turns)) - (1.95996 * sqrt(((completed_rate * (1 - completed_rate)) / v.turns) + (0.9604 / pow(v.turns, 2))))) / (1 + (3.8415 / v.turns)))) AS completed_low_rate,
 if(v.turns < 5, NULL, least(1, ((completed_rate + (1.9207 / v.turns)) + (1.95996 * sqrt(((completed_rate * (1 - completed_rate)) / v.turns) + (0.9604 / pow(v.turns, 2))))) / (1 + (3.8415 / v.turns)))) AS completed_high_rate,
 v.reasons AS stop_reasons,
 v.first_time AS first_time
FROM
(
 SELECT
  project,
  agent_name AS agent,
  toString(agent_version) AS agent_version,
  sum(n) AS turns,
  sumIf(n, reason = 'completed') AS completed,
  arrayStringConcat(arrayMap(one -> concat(one.2, ' ', toString(one.1)), arrayReverseSort(groupArray((n, reason)))), ', ') AS reasons,
  min(first) AS first_time,
  sum(money) / nullIf(sum(money_n), 0) AS cost,
  sum(money_n) AS priced,
  sqrt(greatest(0, sum(money2) - (sum(money_n) * pow(cost, 2))) / nullIf(sum(money_n) - 1, 0)) AS cost_deviation,
  sum(used) / nullIf(sum(used_n), 0) AS tokens,
  sum(used_n) AS counted,
  sqrt(greatest(0, sum(used2) - (sum(used_n) * pow(tokens, 2))) / nullIf(sum(used_n) - 1, 0)) AS tokens_deviation,
  sum(took) / turns AS seconds,
  sqrt(greatest(0, sum(took2) - (turns * pow(seconds, 2))) / nullIf(turns - 1, 0)) AS seconds_deviation,
  quantileMerge(0.95)(slow) AS p95
 FROM
 (
  SELECT
   project,
   agent_name,
   agent_version,
   if(status = 'final', substringIndex(t.stop_reason, ':', 1), toString(t.status)) AS reason,
   count() AS n,
   min(start_time) AS first,
   sum(toFloat64(t.cost_usd)) AS money,
   sum(pow(toFloat64(t.cost_usd), 2)) AS money2,
   count(t.cost_usd) AS money_n,
   sum(toFloat64(t.input_tokens + t.output_tokens)) AS used,
   sum(pow(toFloat64(t.input_tokens + t.output_tokens), 2)) AS used2,
   count(t.input_tokens + t.output_tokens) AS used_n,
   sum(t.duration) AS took,
   sum(pow(t.duration, 2)) AS took2,
   quantileState(0.95)(t.duration) AS slow
  FROM turn_summary AS t
  WHERE (agent_version != '') AND (status != 'running') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
  GROUP BY
   project,
   agent_name,
   agent_version,
   reason
 )
 GROUP BY
  project,
  agent,
  agent_version
) AS v
LEFT JOIN scored AS s ON (s.project = v.project) AND (s.version = v.agent_version)
ORDER BY
 project ASC,
 agent ASC,
 first_time ASC,
 version ASC
LIMIT {limit:UInt32};

WITH
 judged AS
 (
  SELECT
   project,
   lineage_id,
   evolution_id,
   changes,
   score_delta
  FROM evolution_outcome
  WHERE isNotNull(score_delta) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (created_at >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (created_at < {until:DateTime64(9, 'UTC')}))
 )
SELECT
 project,
 change,
 countIf(score_delta > 0) AS successes,
 countIf(score_delta <= 0) AS missed,
 successes / count() AS success_rate,
 round(avg(score_delta), 2) AS average_impact,
 round(max(score_delta), 2) AS best_impact,
 pattern AS pattern_text
FROM
(
 SELECT
  project,
  evolution_id,
  score_delta,
  toString(arrayJoin(mapKeys(changes))) AS change,
  '' AS pattern
 FROM judged
 UNION ALL
 SELECT
  i.project,
  j.evolution_id,
  j.score_delta,
  i.change_kind,
  i.pattern
 FROM
 (
  SELECT
   project,
   lineage_id,
   pattern,
   toString(change) AS change_kind,
   evolution_ids
  FROM insight
 ) AS i
 INNER JOIN
 (
  SELECT *
  FROM judged
 ) AS j ON j.project = i.project
 WHERE if(empty(i.evolution_ids), (i.lineage_id IN ('', j.lineage_id)) AND mapContains(j.changes, i.change_kind), has(i.evolution_ids, j.evolution_id))
)
GROUP BY
 project,
 change,
 pattern
ORDER BY
 average_impact DESC,
 successes DESC,
 change ASC,
 pattern ASC
LIMIT {limit:UInt32};

WITH
 judged AS
 (
  SELECT
   project,
   subject_kind,
   subject_id,
   kind,
   author,
   created_at
  FROM annotation
  WHERE ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
   SELECT
    project,
    subject_kind,
    kind,
    subject_id,
    annotation_id
   FROM annotation_withdrawn
  )) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (created_at >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (created_at < {until:DateTime64(9, 'UTC')}))
 ),
 landed AS
 (
  SELECT
   'turn' AS landed_kind,
   turn_id AS landed_id
  FROM turn_summary
  WHERE turn_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'turn'
  )
  UNION ALL
  SELECT
   'call',
   span_id
  FROM llm_call
  WHERE span_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind IN ('call', 'llm_call')
  )
  UNION ALL
  SELECT
   'tool',
   span_id
  FROM tool_call
  WHERE span_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'tool'
  )
  UNION ALL
  SELECT
   'span',
   span_id
  FROM span
  WHERE span_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'span'
  )
  UNION ALL
  SELECT
   'session',
   session_id
  FROM turn_summary
  WHERE session_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'session'
  )
  UNION ALL
  SELECT
   'attempt',
   attempt_id
  FROM attempt
  WHERE attempt_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'attempt'
  )
  UNION ALL
  SELECT
   'artifact',
   artifact_id
  FROM artifact
  WHERE artifact_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'artifact'
  )
  UNION ALL
  SELECT
   'consortium',
   consortium_id
  FROM consortium
  WHERE consortium_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'consortium'
  )
  UNION ALL
  SELECT
   'consortium',
   consortium_id
  FROM llm_call
  WHERE (consortium_id != '') AND (consortium_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'consortium'
  ))
  UNION ALL
  SELECT
   'session',
   session_id
  FROM llm_call
  WHERE session_id IN (
   SELECT subject_id
   FROM judged
   WHERE subject_kind = 'session'
  )
 )
SELECT
 subject_kind,
 subject_id,
 arraySort(groupUniqArray(kind)) AS kinds,
 any(author) AS by,
 min(created_at) AS first_time,
 project AS of_project
FROM judged
WHERE (subject_kind IN ('turn', 'call', 'llm_call', 'tool', 'span', 'session', 'attempt', 'artifact', 'consortium')) AND ((if(subject_kind = 'llm_call', 'call', subject_kind), subject_id) NOT IN (
 SELECT
  landed_kind,
  landed_id
 FROM landed
 SETTINGS final = 0
))
GROUP BY
 subject_kind,
 subject_id,
 of_project
ORDER BY first_time DESC
LIMIT {limit:UInt32};

WITH
 several AS
 (
  SELECT
   project,
   subject_kind,
   kind,
   subject_id
  FROM annotation
  WHERE (kind IN ('outcome', 'training_flag', 'score')) AND (author != '') AND (({project:String} = '') OR (project = {project:String}))
  GROUP BY
   project,
   subject_kind,
   kind,
   subject_id
  HAVING min(author) != max(author)
 ),
 own AS
 (
  SELECT
   project,
   subject_kind,
   kind,
   author,
   if(kind = 'preference', concat(least(chosen_id, rejected_id), ' ', greatest(chosen_id, rejected_id)), subject_id) AS subject,
   argMax(multiIf(kind = 'outcome', toString(outcome), kind = 'preference', chosen_id, kind = 'training_flag', toString(training_flag), toString(score)), (created_at, written_at, annotation_id)) AS word,
   argMax(ifNull(score, 0), (created_at, written_at, annotation_id)) AS number
  FROM annotation
  WHERE ((kind = 'preference') OR ((project, subject_kind, kind, subject_id) IN (several))) AND (kind IN ('outcome', 'training_flag', 'score', 'preference')) AND (author != '') AND (((
   SELECT count()
   FROM withdrawal
  ) = 0) OR ((project, subject_kind, kind, subject_id, annotation_id) NOT IN (
   SELECT
    project,
    subject_kind,
    kind,
    subject_id,
    annotation_id
   FROM annotation_withdrawn
  ))) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (created_at >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (created_at < {until:DateTime64(9, 'UTC')}))
  GROUP BY
   project,
   subject_kind,
   kind,
   author,
   subject
  HAVING (NOT ((kind = 'outcome') AND (word = 'pending'))) AND (NOT ((kind = 'training_flag') AND (word = '0')))
 ),
 pairs AS
 (
  SELECT
   kind,
   (arrayJoin(couples) AS couple).1 AS one,
   couple.2 AS other
  FROM
  (
   SELECT
    kind,
    arraySort(groupArray((startsWith(author, 'passive:'), author, word, number))) AS judges,
    arrayFlatten(arrayMap(at -> arrayMap(then -> (judges[at], judges[then]), range(at + 1, length(judges) + 1)), arrayEnumerate(judges))) AS couples
   FROM own
   GROUP BY
    project,
    subject_kind,
    kind,
    subject
   HAVING length(judges) > 1
  )
  WHERE NOT (one.1)
 )
SELECT
 * EXCEPT (differ, differ_by_chance),
 if(differ_by_chance < 1e-9, NULL, round(1 - (differ / differ_by_chance), 3)) AS kappa
FROM
(
 SELECT
  kind AS judgment,
  one.2 AS reviewer,
  other.2 AS other_reviewer,
  count() AS both_judged,
  countIf((one.3) = (other.3)) AS agreed,
  agreed / both_judged AS agreed_share,
  if(kind = 'score', 'by distance', 'equal or not') AS counted,
  if(kind = 'score', avg(pow((one.4) - (other.4), 2)), 1 - agreed_share) AS differ,
  if(kind = 'score', (varPop(one.4) + varPop(other.4)) + pow(avg(one.4) - avg(other.4), 2), 1 - (arraySum(word -> (countEqual(groupArray(one.3), word) * countEqual(groupArray(other.3), word)), groupUniqArray(one.3)) / pow(both_judged, 2))) AS differ_by_chance
 FROM pairs
 GROUP BY
  kind,
  one.2,
  other.2
)
ORDER BY
 both_judged DESC,
 judgment ASC,
 reviewer ASC,
 other_reviewer ASC
LIMIT {limit:UInt32};
