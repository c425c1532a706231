SELECT DISTINCT toString(project)
FROM turnspan.turn_summary
WHERE toString(session_id) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.llm_call
WHERE toString(session_id) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.llm_call_running
WHERE toString(session_id) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.tool_call
WHERE toString(session_id) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.span
WHERE toString(session_id) = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.tombstone
WHERE asked AND (kind = {kind:String});

SELECT DISTINCT pass
FROM turnspan.keeping_row
ORDER BY pass ASC;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT DISTINCT
 {pass:String},
 concat({unit:String}, one.1),
 toDate(0),
 project,
 toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16)
FROM
(
 SELECT
  project,
  arrayJoin(value) AS one
 FROM
 (
  SELECT
   {project:String} AS project,
   [('session', {id:String})] AS value
 )
)
WHERE (one.2) != ''
SETTINGS final = 0;

SELECT DISTINCT record
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND startsWith(record, {unit:String});

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT DISTINCT
 {pass:String},
 concat({unit:String}, one.1),
 toDate(0),
 project,
 toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16)
FROM
(
 SELECT
  project,
  arrayJoin(value) AS one
 FROM
 (
  SELECT
   record,
   project,
   began,
   value,
   arrayJoin(arrayMap(one -> toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16), arrayFilter(one -> ((one.2) != ''), owners))) AS owner
  FROM
  (
   SELECT
    'llm_call' AS record,
    project,
    start_time AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.llm_call
   WHERE 1
   UNION ALL
   SELECT
    'llm_call_running' AS record,
    project,
    start_time AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.llm_call_running
   WHERE 1
   UNION ALL
   SELECT
    'turn_summary' AS record,
    project,
    start_time AS began,
    [('turn', if(turn_id != '', turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.turn_summary
   WHERE 1
   UNION ALL
   SELECT
    'tool_call' AS record,
    project,
    start_time AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.tool_call
   WHERE 1
   UNION ALL
   SELECT
    'span' AS record,
    project,
    start_time AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.span
   WHERE 1
   UNION ALL
   SELECT
    'context_assembly' AS record,
    project,
    start_time AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.context_assembly
   WHERE 1
   UNION ALL
   SELECT
    'context_item' AS record,
    project,
    start_time AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.context_item
   WHERE 1
   UNION ALL
   SELECT
    'artifact' AS record,
    project,
    created_at AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.artifact
   WHERE 1
   UNION ALL
   SELECT
    'consortium' AS record,
    project,
    started_at AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.consortium
   WHERE 1
   UNION ALL
   SELECT
    'consortium_iteration' AS record,
    project,
    started_at AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.consortium_iteration
   WHERE 1
   UNION ALL
   SELECT
    'consortium_member' AS record,
    project,
    started_at AS began,
    [('turn', if((turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', trace_id)] AS value,
    [('session', toString(session_id))] AS owners
   FROM turnspan.consortium_member
   WHERE 1
  )
  WHERE arrayExists(one -> (toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM
   (
    SELECT DISTINCT
     key,
     fromUnixTimestamp64Nano(0, 'UTC') AS last
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
   )
  )), owners)
 ) AS o
 GLOBAL INNER JOIN
 (
  SELECT DISTINCT
   key,
   fromUnixTimestamp64Nano(0, 'UTC') AS last
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
 ) AS k ON k.key = o.owner
 WHERE o.began <= k.last
)
WHERE (one.2) != ''
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT DISTINCT
 {pass:String},
 concat({unit:String}, one.1),
 toDate(0),
 project,
 toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16)
FROM
(
 SELECT
  project,
  arrayJoin(value) AS one
 FROM
 (
  SELECT
   record,
   project,
   began,
   value,
   arrayJoin(arrayMap(one -> toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16), arrayFilter(one -> ((one.2) != ''), owners))) AS owner
  FROM
  (
   SELECT
    'llm_call' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id), ('tried', attempt_id), ('rolled', rollout_id)], arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [system_prompt, tool_definitions, context_assembled]), arrayMap(hash -> ('message', concat(if(session_id = '', trace_id, session_id), '\0', lower(hex(hash)))), if(session_id = '', arrayConcat(input_messages, output_messages), []))) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.llm_call
   WHERE 1
   UNION ALL
   SELECT
    'llm_call_running' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id)], arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [system_prompt, tool_definitions]), arrayMap(hash -> ('message', concat(if(session_id = '', trace_id, session_id), '\0', lower(hex(hash)))), if(session_id = '', arrayConcat(input_messages), []))) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.llm_call_running
   WHERE 1
   UNION ALL
   SELECT
    'turn_summary' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id), ('tried', attempt_id), ('rolled', rollout_id)]) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
   FROM turnspan.turn_summary
   WHERE 1
   UNION ALL
   SELECT
    'tool_call' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id)]) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.tool_call
   WHERE 1
   UNION ALL
   SELECT
    'span' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id)]) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.span
   WHERE 1
   UNION ALL
   SELECT
    'context_assembly' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id), ('span', assembly_id)], arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [context_hash])) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.context_assembly
   WHERE 1
   UNION ALL
   SELECT
    'context_item' AS record,
    project,
    start_time AS began,
    arrayConcat(arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [content_hash])) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.context_item
   WHERE 1
   UNION ALL
   SELECT
    'artifact' AS record,
    project,
    created_at AS began,
    arrayConcat([('artifact', artifact_id), ('tried', attempt_id), ('rolled', rollout_id)], arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [content])) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.artifact
   WHERE 1
   UNION ALL
   SELECT
    'consortium' AS record,
    project,
    started_at AS began,
    arrayConcat([('span', span_id), ('consortium', consortium_id)], arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [prompt, final_text])) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.consortium
   WHERE 1
   UNION ALL
   SELECT
    'consortium_iteration' AS record,
    project,
    started_at AS began,
    CAST([], 'Array(Tuple(String, String))') AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.consortium_iteration
   WHERE 1
   UNION ALL
   SELECT
    'consortium_member' AS record,
    project,
    started_at AS began,
    CAST([], 'Array(Tuple(String, String))') AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
   FROM turnspan.consortium_member
   WHERE 1
  )
  WHERE arrayExists(one -> (toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM
   (
    SELECT DISTINCT
     key,
     fromUnixTimestamp64Nano(0, 'UTC') AS last
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:trace', 'key:turn'))
   )
  )), owners)
 ) AS o
 GLOBAL INNER JOIN
 (
  SELECT DISTINCT
   key,
   fromUnixTimestamp64Nano(0, 'UTC') AS last
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:trace', 'key:turn'))
 ) AS k ON k.key = o.owner
 WHERE o.began <= k.last
)
WHERE (one.2) != ''
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT DISTINCT
 {pass:String},
 concat({place:String}, record),
 value.1,
 '',
 value.2
FROM
(
 SELECT
  record,
  project,
  began,
  value,
  arrayJoin(arrayMap(one -> toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16), arrayFilter(one -> ((one.2) != ''), owners))) AS owner
 FROM
 (
  SELECT
   'llm_call' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.llm_call
  WHERE 1
  UNION ALL
  SELECT
   'turn_summary' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, turn_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
  FROM turnspan.turn_summary
  WHERE 1
  UNION ALL
  SELECT
   'annotation' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at)) AS value,
   [(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(subject_id)), (transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(chosen_id)), (transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(rejected_id))] AS owners
  FROM turnspan.annotation
  WHERE 1
  UNION ALL
  SELECT
   'withdrawal' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at)) AS value,
   [(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(subject_id))] AS owners
  FROM turnspan.withdrawal
  WHERE 1
  UNION ALL
  SELECT
   'dataset_case' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, dataset, version, case_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
  FROM turnspan.dataset_case
  WHERE 1
  UNION ALL
  SELECT
   'artifact' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, target, artifact_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.artifact
  WHERE 1
  UNION ALL
  SELECT
   'artifact_check' AS record,
   project,
   checked_at AS began,
   (toDate(0), sipHash128(project, source, artifact_id, written_at)) AS value,
   [('turn', toString(turn_id))] AS owners
  FROM turnspan.artifact_check
  WHERE 1
  UNION ALL
  SELECT
   'consortium' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium
  WHERE 1
  UNION ALL
  SELECT
   'consortium_iteration' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, arbiter_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium_iteration
  WHERE 1
  UNION ALL
  SELECT
   'consortium_member' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, member_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium_member
  WHERE 1
  UNION ALL
  SELECT
   'tool_call' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.tool_call
  WHERE 1
  UNION ALL
  SELECT
   'message' AS record,
   project,
   first_seen AS began,
   (toDate(0), sipHash128(project, scope, hash, written_at)) AS value,
   [('session', toString(scope))] AS owners
  FROM turnspan.message
  WHERE 1
  UNION ALL
  SELECT
   'context_assembly' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, assembly_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.context_assembly
  WHERE 1
  UNION ALL
  SELECT
   'context_item' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.context_item
  WHERE 1
  UNION ALL
  SELECT
   'span' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, trace_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.span
  WHERE 1
  UNION ALL
  SELECT
   'llm_call_running' AS record,
   project,
   start_time AS began,
   (toDate(0), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.llm_call_running
  WHERE 1
 )
 WHERE arrayExists(one -> (toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16) GLOBAL IN (
  SELECT key
  FROM
  (
   SELECT DISTINCT
    key,
    fromUnixTimestamp64Nano(0, 'UTC') AS last
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
  )
 )), owners)
) AS o
GLOBAL INNER JOIN
(
 SELECT DISTINCT
  key,
  fromUnixTimestamp64Nano(0, 'UTC') AS last
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
) AS k ON k.key = o.owner
WHERE o.began <= k.last
SETTINGS final = 0;

SELECT
 record,
 reason,
 count()
FROM turnspan.keeping_row
WHERE pass = {pass:String}
GROUP BY
 record,
 reason
ORDER BY
 record ASC,
 reason ASC;

SELECT toString(toUnixTimestamp64Nano(min(applied_at)))
FROM turnspan.schema_migration;

WITH
 arraySort(groupArray((key, time))) AS sorted
SELECT
 arrayStringConcat(arrayMap(one -> hex(one.1), sorted)),
 arrayMap(one -> (one.2), sorted)
FROM
(
 SELECT
  key,
  max(time) AS time
 FROM
 (
  SELECT
   key,
   toUnixTimestamp64Nano(until) AS time
  FROM turnspan.tombstone
  UNION ALL
  SELECT
   key,
   toUnixTimestamp64Nano(last) AS time
  FROM
  (
   SELECT DISTINCT
    key,
    fromUnixTimestamp64Nano(0, 'UTC') AS last
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
  )
 )
 GROUP BY key
);

SELECT count()
FROM tombstone;

ALTER TABLE turnspan.keeping_row
 (DROP PARTITION '<time>-forget-<drawn>');

SELECT
 groupUniqArray(toString(kind)),
 toUnixTimestamp64Nano(max(until))
FROM turnspan.tombstone
WHERE ((forgetting_id GLOBAL IN (
 SELECT forgetting_id
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
)) OR ((forgetting_id = '') AND (until GLOBAL IN (
 SELECT until
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
))));

INSERT INTO turnspan.tombstone (project, kind, key, until, forgetting_id, asked, reason, author, created_at, written_at) WITH
 fromUnixTimestamp64Nano({until:Int64}, 'UTC') AS now
SELECT DISTINCT
 reason,
 substring(record, length({unit:String}) + 1),
 key,
 now,
 {forgetting:String},
 false,
 '',
 '',
 now,
 now
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND startsWith(record, {unit:String});

INSERT INTO turnspan.tombstone FORMAT Native;

WITH
 arraySort(groupArray((key, until))) AS sorted
SELECT
 arrayStringConcat(arrayMap(one -> hex(one.1), sorted)),
 arrayMap(one -> (one.2), sorted),
 arraySort(groupUniqArrayArray(kinds))
FROM
(
 SELECT
  key,
  toUnixTimestamp64Nano(max(tombstone.until)) AS until,
  groupUniqArray(toString(kind)) AS kinds
 FROM tombstone
 WHERE {shared:Bool} OR (kind NOT IN ('message', 'definition', 'tried', 'rolled'))
 GROUP BY key
);

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT DISTINCT
 {pass:String},
 concat({place:String}, record),
 value.1,
 '',
 value.2
FROM
(
 SELECT
  record,
  project,
  began,
  value,
  arrayJoin(arrayMap(one -> toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16), arrayFilter(one -> ((one.2) != ''), owners))) AS owner
 FROM
 (
  SELECT
   'llm_call' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.llm_call
  WHERE 1
  UNION ALL
  SELECT
   'turn_summary' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, turn_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
  FROM turnspan.turn_summary
  WHERE 1
  UNION ALL
  SELECT
   'annotation' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at)) AS value,
   [(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(subject_id)), (transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(chosen_id)), (transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(rejected_id))] AS owners
  FROM turnspan.annotation
  WHERE 1
  UNION ALL
  SELECT
   'withdrawal' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at)) AS value,
   [(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(subject_id))] AS owners
  FROM turnspan.withdrawal
  WHERE 1
  UNION ALL
  SELECT
   'dataset_case' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, dataset, version, case_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
  FROM turnspan.dataset_case
  WHERE 1
  UNION ALL
  SELECT
   'artifact' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, target, artifact_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.artifact
  WHERE 1
  UNION ALL
  SELECT
   'artifact_check' AS record,
   project,
   checked_at AS began,
   (toDate(0), sipHash128(project, source, artifact_id, written_at)) AS value,
   [('turn', toString(turn_id))] AS owners
  FROM turnspan.artifact_check
  WHERE 1
  UNION ALL
  SELECT
   'consortium' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium
  WHERE 1
  UNION ALL
  SELECT
   'consortium_iteration' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, arbiter_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium_iteration
  WHERE 1
  UNION ALL
  SELECT
   'consortium_member' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, member_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium_member
  WHERE 1
  UNION ALL
  SELECT
   'tool_call' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.tool_call
  WHERE 1
  UNION ALL
  SELECT
   'message' AS record,
   project,
   first_seen AS began,
   (toDate(0), sipHash128(project, scope, hash, written_at)) AS value,
   [('session', toString(scope))] AS owners
  FROM turnspan.message
  WHERE 1
  UNION ALL
  SELECT
   'context_assembly' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, assembly_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.context_assembly
  WHERE 1
  UNION ALL
  SELECT
   'context_item' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.context_item
  WHERE 1
  UNION ALL
  SELECT
   'span' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, trace_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.span
  WHERE 1
  UNION ALL
  SELECT
   'llm_call_running' AS record,
   project,
   start_time AS began,
   (toDate(0), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.llm_call_running
  WHERE 1
 )
 WHERE arrayExists(one -> (toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16) GLOBAL IN (
  SELECT key
  FROM
  (
   SELECT
    key,
    max(until) AS last
   FROM turnspan.tombstone
   WHERE ((forgetting_id GLOBAL IN (
    SELECT forgetting_id
    FROM turnspan.tombstone
    WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
   )) OR ((forgetting_id = '') AND (until GLOBAL IN (
    SELECT until
    FROM turnspan.tombstone
    WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
   )))) AND (kind IN ('session', 'span', 'trace', 'turn'))
   GROUP BY key
  )
 )), owners)
) AS o
GLOBAL INNER JOIN
(
 SELECT
  key,
  max(until) AS last
 FROM turnspan.tombstone
 WHERE ((forgetting_id GLOBAL IN (
  SELECT forgetting_id
  FROM turnspan.tombstone
  WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
 )) OR ((forgetting_id = '') AND (until GLOBAL IN (
  SELECT until
  FROM turnspan.tombstone
  WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
 )))) AND (kind IN ('session', 'span', 'trace', 'turn'))
 GROUP BY key
) AS k ON k.key = o.owner
WHERE o.began <= k.last
SETTINGS final = 0;

SELECT
 record,
 toString(week),
 count()
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND (({reason:String} = '') OR (reason = {reason:String}))
GROUP BY
 record,
 week
ORDER BY
 record ASC,
 week ASC;

ALTER TABLE turnspan.turn_summary
 (DELETE WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, turn_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record = 'turn_summary') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 )));

ALTER TABLE turnspan.annotation
 (DELETE WHERE sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record = 'annotation') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

ALTER TABLE turnspan.withdrawal
 (DELETE WHERE sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record = 'withdrawal') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

SELECT
 `table`,
 count()
FROM system.parts
WHERE (database = {database:String}) AND (`table` IN ({tables:Array(String)})) AND active AND has_lightweight_delete
GROUP BY `table`
ORDER BY `table` ASC;

SELECT
 `table`,
 count()
FROM system.parts
WHERE (database = {database:String}) AND (`table` IN ({tables:Array(String)})) AND (NOT active)
GROUP BY `table`
ORDER BY `table` ASC;

SELECT
 name,
 create_table_query
FROM system.tables
WHERE (database = {database:String}) AND (name IN ({tables:Array(String)}));

ALTER TABLE turnspan.llm_call
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.llm_call
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.llm_call
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.turn_summary
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.turn_summary
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.turn_summary
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.annotation
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.annotation
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.annotation
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.withdrawal
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.withdrawal
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.withdrawal
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.review_queue
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.review_queue
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.review_queue
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.dataset_case
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.dataset_case
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.dataset_case
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.artifact
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.artifact
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.artifact
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.artifact_check
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.artifact_check
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.artifact_check
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.evolution
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.evolution
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.evolution
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.insight
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.insight
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.insight
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.agent_version
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.agent_version
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.agent_version
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.attempt
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.attempt
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.attempt
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.rollout
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.rollout
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.rollout
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.lineage_event
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.lineage_event
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.lineage_event
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.lineage
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.lineage
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.lineage
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.experiment
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.experiment
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.experiment
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.consortium
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.consortium
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.consortium
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.consortium_iteration
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.consortium_iteration
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.consortium_iteration
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.consortium_member
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.consortium_member
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.consortium_member
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.tool_call
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.tool_call
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.tool_call
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.message
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.message
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.message
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.definition
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.definition
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.definition
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.context_assembly
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.context_assembly
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.context_assembly
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.context_item
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.context_item
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.context_item
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.span
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.span
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.span
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.import_position
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.import_position
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.import_position
 (RESET SETTING old_parts_lifetime);

ALTER TABLE turnspan.llm_call_running
 (MODIFY SETTING old_parts_lifetime = 0);

ALTER TABLE turnspan.llm_call_running
 (DROP PARTITION ID '19700106');

ALTER TABLE turnspan.llm_call_running
 (RESET SETTING old_parts_lifetime);

SELECT
 record,
 uniqExact(value)
FROM
(
 SELECT
  record,
  project,
  began,
  value,
  arrayJoin(arrayMap(one -> toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16), arrayFilter(one -> ((one.2) != ''), owners))) AS owner
 FROM
 (
  SELECT
   'llm_call' AS record,
   project,
   start_time AS began,
   sipHash128(project, session_id, start_time, span_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.llm_call
  WHERE 1
  UNION ALL
  SELECT
   'turn_summary' AS record,
   project,
   start_time AS began,
   sipHash128(project, session_id, start_time, turn_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
  FROM turnspan.turn_summary
  WHERE 1
  UNION ALL
  SELECT
   'annotation' AS record,
   project,
   created_at AS began,
   sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at) AS value,
   [(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(subject_id)), (transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(chosen_id)), (transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(rejected_id))] AS owners
  FROM turnspan.annotation
  WHERE 1
  UNION ALL
  SELECT
   'withdrawal' AS record,
   project,
   created_at AS began,
   sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at) AS value,
   [(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), toString(subject_id))] AS owners
  FROM turnspan.withdrawal
  WHERE 1
  UNION ALL
  SELECT
   'dataset_case' AS record,
   project,
   created_at AS began,
   sipHash128(project, dataset, version, case_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id))] AS owners
  FROM turnspan.dataset_case
  WHERE 1
  UNION ALL
  SELECT
   'artifact' AS record,
   project,
   created_at AS began,
   sipHash128(project, target, artifact_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.artifact
  WHERE 1
  UNION ALL
  SELECT
   'artifact_check' AS record,
   project,
   checked_at AS began,
   sipHash128(project, source, artifact_id, written_at) AS value,
   [('turn', toString(turn_id))] AS owners
  FROM turnspan.artifact_check
  WHERE 1
  UNION ALL
  SELECT
   'consortium' AS record,
   project,
   started_at AS began,
   sipHash128(project, consortium_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium
  WHERE 1
  UNION ALL
  SELECT
   'consortium_iteration' AS record,
   project,
   started_at AS began,
   sipHash128(project, consortium_id, arbiter_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium_iteration
  WHERE 1
  UNION ALL
  SELECT
   'consortium_member' AS record,
   project,
   started_at AS began,
   sipHash128(project, consortium_id, member_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.consortium_member
  WHERE 1
  UNION ALL
  SELECT
   'tool_call' AS record,
   project,
   start_time AS began,
   sipHash128(project, session_id, start_time, span_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.tool_call
  WHERE 1
  UNION ALL
  SELECT
   'message' AS record,
   project,
   first_seen AS began,
   sipHash128(project, scope, hash, written_at) AS value,
   [('session', toString(scope))] AS owners
  FROM turnspan.message
  WHERE 1
  UNION ALL
  SELECT
   'context_assembly' AS record,
   project,
   start_time AS began,
   sipHash128(project, session_id, start_time, assembly_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.context_assembly
  WHERE 1
  UNION ALL
  SELECT
   'context_item' AS record,
   project,
   start_time AS began,
   sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.context_item
  WHERE 1
  UNION ALL
  SELECT
   'span' AS record,
   project,
   start_time AS began,
   sipHash128(project, trace_id, start_time, span_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.span
  WHERE 1
  UNION ALL
  SELECT
   'llm_call_running' AS record,
   project,
   start_time AS began,
   sipHash128(project, session_id, start_time, span_id, written_at) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), ''))] AS owners
  FROM turnspan.llm_call_running
  WHERE 1
 )
 WHERE arrayExists(one -> (toFixedString(substring(SHA256(concat(one.1, '\0', project, '\0', one.2)), 1, 16), 16) GLOBAL IN (
  SELECT key
  FROM
  (
   SELECT
    key,
    max(until) AS last
   FROM turnspan.tombstone
   WHERE ((forgetting_id GLOBAL IN (
    SELECT forgetting_id
    FROM turnspan.tombstone
    WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
   )) OR ((forgetting_id = '') AND (until GLOBAL IN (
    SELECT until
    FROM turnspan.tombstone
    WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
   )))) AND (kind IN ('session', 'span', 'trace', 'turn'))
   GROUP BY key
  )
 )), owners)
) AS o
GLOBAL INNER JOIN
(
 SELECT
  key,
  max(until) AS last
 FROM turnspan.tombstone
 WHERE ((forgetting_id GLOBAL IN (
  SELECT forgetting_id
  FROM turnspan.tombstone
  WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
 )) OR ((forgetting_id = '') AND (until GLOBAL IN (
  SELECT until
  FROM turnspan.tombstone
  WHERE asked AND (hex(key) = 'E45728CF7A83EB81E7F42A2BC2635E77')
 )))) AND (kind IN ('session', 'span', 'trace', 'turn'))
 GROUP BY key
) AS k ON k.key = o.owner
WHERE o.began <= k.last
GROUP BY record
ORDER BY record ASC;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(service)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(environment)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_version)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(rollout_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(attempt_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(provider)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(operation)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(request_model)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_model)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(request_parameters)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(stream_outcome)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(finish_reasons, {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(price_version)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_text)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_thoughts)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(tool_calls)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(consortium_id)], {short:Array(String)})))
FROM turnspan.llm_call;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(service)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(environment)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_version)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(rollout_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(attempt_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(user_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(user_message)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_text)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(stop_reason)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(stop_detail)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_intent)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(chat_mode)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(task_type)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(target)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(models, {short:Array(String)})))
FROM turnspan.turn_summary;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(subject_kind)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(subject_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(annotation_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(outcome)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(comment)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(chosen_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(rejected_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(directive)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(author)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(ranking_id)], {short:Array(String)})))
FROM turnspan.annotation;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(subject_kind)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(subject_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(withdrawal_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(annotation_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(author)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(comment)], {short:Array(String)})))
FROM turnspan.withdrawal;

SELECT
 countIf(1),
 countIf((written_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((written_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(name)], {short:Array(String)}))),
 countIf((written_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(definition)], {short:Array(String)}))),
 countIf((written_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(author)], {short:Array(String)})))
FROM turnspan.review_queue;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(dataset)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(version)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(case_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(input)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(expected)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(tags, {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)})))
FROM turnspan.dataset_case;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(target)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(artifact_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(version)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(call_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(rollout_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(attempt_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(version_id)], {short:Array(String)})))
FROM turnspan.artifact;

SELECT
 countIf(1),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(artifact_id)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(target)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(decision)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(reason)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(revision)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(found_by)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(later_revision)], {short:Array(String)}))),
 countIf((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(correction_id)], {short:Array(String)})))
FROM turnspan.artifact_check;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(evolution_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(from_version)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(to_version)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trigger)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(hypothesis)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(plan)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(changes), {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(author)], {short:Array(String)})))
FROM turnspan.evolution;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(experiment_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(insight_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(pattern)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(change)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(evolution_ids, {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(author)], {short:Array(String)})))
FROM turnspan.insight;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(version_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(name)], {short:Array(String)})))
FROM turnspan.agent_version;

SELECT
 countIf(1),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(rollout_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(attempt_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(version_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(model)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parameters)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(input)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(output)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)})))
FROM turnspan.attempt;

SELECT
 countIf(1),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(rollout_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(task)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(version_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(final_attempt_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)})))
FROM turnspan.rollout;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(event_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(text)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(author)], {short:Array(String)})))
FROM turnspan.lineage_event;

SELECT
 countIf(1),
 countIf((opened_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((opened_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((opened_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(experiment_id)], {short:Array(String)}))),
 countIf((opened_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(lineage_id)], {short:Array(String)}))),
 countIf((opened_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(label)], {short:Array(String)})))
FROM turnspan.lineage;

SELECT
 countIf(1),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(experiment_id)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(need)], {short:Array(String)}))),
 countIf((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(constraints)], {short:Array(String)})))
FROM turnspan.experiment;

SELECT
 countIf(1),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(consortium_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(name)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(strategy)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(outer_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(outer_member)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)})))
FROM turnspan.consortium;

SELECT
 countIf(1),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(consortium_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(arbiter_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(model)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(synthesis)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(ranking, {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(reasoning)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(refinement_areas, {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(raw)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)})))
FROM turnspan.consortium_iteration;

SELECT
 countIf(1),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(consortium_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(member_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(model)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(instance)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(answer)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)})))
FROM turnspan.consortium_member;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(service)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(environment)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(type)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(call_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(arguments)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(result)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_message)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_name)], {short:Array(String)})))
FROM turnspan.tool_call;

SELECT
 countIf(1),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(role)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(name)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parts)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(dialect)], {short:Array(String)})))
FROM turnspan.message;

SELECT
 countIf(1),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(body)], {short:Array(String)}))),
 countIf((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)})))
FROM turnspan.definition;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(service)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(environment)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(assembly_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(task_type)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(entities, {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(bypass_reason)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(step_names, {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(step_errors, {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(error_type)], {short:Array(String)})))
FROM turnspan.context_assembly;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(assembly_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(item_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(section)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(reason)], {short:Array(String)})))
FROM turnspan.context_item;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(service)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(environment)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_state)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status_code)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status_message)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope_version)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(resource), {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(events)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(links)], {short:Array(String)})))
FROM turnspan.span;

SELECT
 countIf(1),
 countIf((began_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((began_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(kind)], {short:Array(String)}))),
 countIf((began_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(source)], {short:Array(String)}))),
 countIf((began_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(position)], {short:Array(String)})))
FROM turnspan.import_position;

SELECT
 countIf(1),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(project)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(writer)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(service)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(environment)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(session_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(turn_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(trace_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(parent_span_id)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(status)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(provider)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(operation)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(request_model)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(request_parameters)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_text)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(response_thoughts)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(tool_calls)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(agent_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny([toString(scope_name)], {short:Array(String)}))),
 countIf((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (hasAny(mapValues(attributes), {short:Array(String)})))
FROM turnspan.llm_call_running;
