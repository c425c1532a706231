SELECT DISTINCT toString(project)
FROM turnspan.turn_summary
WHERE toString(user_id) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.llm_call
WHERE (attributes['user.id']) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.llm_call
WHERE JSONExtractString(request_parameters, 'user') = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.llm_call_running
WHERE (attributes['user.id']) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.llm_call_running
WHERE JSONExtractString(request_parameters, 'user') = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.tool_call
WHERE (attributes['user.id']) = {id:String}
UNION DISTINCT
SELECT DISTINCT toString(project)
FROM turnspan.span
WHERE (attributes['user.id']) = {id:String};

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
   [('user', {id:String})] AS value
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
    'turn_summary' AS record,
    project,
    start_time AS began,
    [('session', session_id), ('turn', if((session_id = '') AND (turn_id != ''), turn_id, '')), ('trace', if(session_id = '', trace_id, ''))] AS value,
    [('user', toString(user_id))] AS owners
   FROM turnspan.turn_summary
   WHERE 1
   UNION ALL
   SELECT
    'llm_call' AS record,
    project,
    start_time AS began,
    [('session', session_id), ('turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', if(session_id = '', trace_id, ''))] AS value,
    [('user', attributes['user.id']), ('user', JSONExtractString(request_parameters, 'user'))] AS owners
   FROM turnspan.llm_call
   WHERE 1
   UNION ALL
   SELECT
    'llm_call_running' AS record,
    project,
    start_time AS began,
    [('session', session_id), ('turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', if(session_id = '', trace_id, ''))] AS value,
    [('user', attributes['user.id']), ('user', JSONExtractString(request_parameters, 'user'))] AS owners
   FROM turnspan.llm_call_running
   WHERE 1
   UNION ALL
   SELECT
    'tool_call' AS record,
    project,
    start_time AS began,
    [('session', session_id), ('turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', if(session_id = '', trace_id, ''))] AS value,
    [('user', attributes['user.id'])] AS owners
   FROM turnspan.tool_call
   WHERE 1
   UNION ALL
   SELECT
    'span' AS record,
    project,
    start_time AS began,
    [('session', session_id), ('turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), turn_id, '')), ('trace', if(session_id = '', trace_id, ''))] AS value,
    [('user', attributes['user.id'])] AS owners
   FROM turnspan.span
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
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   )
  )), owners)
 ) AS o
 GLOBAL INNER JOIN
 (
  SELECT DISTINCT
   key,
   fromUnixTimestamp64Nano(0, 'UTC') AS last
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
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
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id']), ('user', JSONExtractString(request_parameters, 'user'))] AS owners
   FROM turnspan.llm_call
   WHERE 1
   UNION ALL
   SELECT
    'llm_call_running' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id)], arrayMap(hash -> ('definition', if(hash = toFixedString('', 16), '', lower(hex(hash)))), [system_prompt, tool_definitions]), arrayMap(hash -> ('message', concat(if(session_id = '', trace_id, session_id), '\0', lower(hex(hash)))), if(session_id = '', arrayConcat(input_messages), []))) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id']), ('user', JSONExtractString(request_parameters, 'user'))] AS owners
   FROM turnspan.llm_call_running
   WHERE 1
   UNION ALL
   SELECT
    'turn_summary' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id), ('tried', attempt_id), ('rolled', rollout_id)]) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('user', toString(user_id))] AS owners
   FROM turnspan.turn_summary
   WHERE 1
   UNION ALL
   SELECT
    'tool_call' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id)]) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id'])] AS owners
   FROM turnspan.tool_call
   WHERE 1
   UNION ALL
   SELECT
    'span' AS record,
    project,
    start_time AS began,
    arrayConcat([('span', span_id)]) AS value,
    [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id'])] AS owners
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
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:trace', 'key:turn', 'key:user'))
   )
  )), owners)
 ) AS o
 GLOBAL INNER JOIN
 (
  SELECT DISTINCT
   key,
   fromUnixTimestamp64Nano(0, 'UTC') AS last
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:trace', 'key:turn', 'key:user'))
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
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id']), ('user', JSONExtractString(request_parameters, 'user'))] AS owners
  FROM turnspan.llm_call
  WHERE 1
  UNION ALL
  SELECT
   'turn_summary' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, turn_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('user', toString(user_id))] AS owners
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
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id'])] AS owners
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
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id'])] AS owners
  FROM turnspan.span
  WHERE 1
  UNION ALL
  SELECT
   'llm_call_running' AS record,
   project,
   start_time AS began,
   (toDate(0), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('session', toString(session_id)), ('turn', toString(turn_id)), ('trace', if((session_id = '') AND (turn_id IN ('', trace_id)), toString(trace_id), '')), ('user', attributes['user.id']), ('user', JSONExtractString(request_parameters, 'user'))] AS owners
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
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn', 'key:user'))
  )
 )), owners)
) AS o
GLOBAL INNER JOIN
(
 SELECT DISTINCT
  key,
  fromUnixTimestamp64Nano(0, 'UTC') AS last
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn', 'key:user'))
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
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn', 'key:user'))
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
 WHERE asked AND (hex(key) = '68545D9CE83C03A6DBBBF39913E97D76')
)) OR ((forgetting_id = '') AND (until GLOBAL IN (
 SELECT until
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = '68545D9CE83C03A6DBBBF39913E97D76')
))));
