SELECT DISTINCT toString(project)
FROM turnspan.turn_summary
WHERE toString(user_id) = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.llm_call
WHERE (attributes['user.id']) = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.llm_call
WHERE JSONExtractString(request_parameters, 'user') = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.llm_call_running
WHERE (attributes['user.id']) = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.llm_call_running
WHERE JSONExtractString(request_parameters, 'user') = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.tool_call
WHERE (attributes['user.id']) = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.span
WHERE (attributes['user.id']) = {id:String};

SELECT DISTINCT toString(project)
FROM turnspan.tombstone
WHERE asked AND (kind = {kind:String});

SELECT DISTINCT pass
FROM turnspan.keeping_row
ORDER BY pass ASC;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key) SELECT DISTINCT
 {pass:String},
 one.1,
 toDate(0),
 project,
 one.2
FROM
(
 SELECT
  project,
  arrayJoin([('key:user', toFixedString(substring(SHA256(concat('user', '\0', project, '\0', {id:String})), 1, 16), 16))]) AS one
 FROM
 (
  SELECT {project:String} AS project
 )
)
WHERE (one.2) != toFixedString('', 16);

SELECT DISTINCT record
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND startsWith(record, {unit:String});

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key) SELECT DISTINCT
 {pass:String},
 one.1,
 toDate(0),
 project,
 one.2
FROM
(
 SELECT
  project,
  arrayJoin([('key:session', if(session_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('session', '\0', project, '\0', session_id)), 1, 16), 16))), ('key:turn', if((session_id = '') AND (turn_id != ''), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(session_id = '', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)), toFixedString('', 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.turn_summary
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(user_id) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', toString(user_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:session', if(session_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('session', '\0', project, '\0', session_id)), 1, 16), 16))), ('key:turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(session_id = '', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)), toFixedString('', 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.llm_call
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:session', if(session_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('session', '\0', project, '\0', session_id)), 1, 16), 16))), ('key:turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(session_id = '', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)), toFixedString('', 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.llm_call_running
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:session', if(session_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('session', '\0', project, '\0', session_id)), 1, 16), 16))), ('key:turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(session_id = '', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)), toFixedString('', 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.tool_call
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:session', if(session_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('session', '\0', project, '\0', session_id)), 1, 16), 16))), ('key:turn', if((session_id = '') AND (turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(session_id = '', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)), toFixedString('', 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.span
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))))
 )
)
WHERE (one.2) != toFixedString('', 16);

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key) SELECT DISTINCT
 {pass:String},
 one.1,
 toDate(0),
 project,
 one.2
FROM
(
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.llm_call
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.llm_call_running
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if(turn_id != '', if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.turn_summary
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.tool_call
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.span
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.context_assembly
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.context_item
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.artifact
  WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.consortium
  WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.consortium_iteration
  WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:turn', if((turn_id NOT IN ('', trace_id)), if(turn_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', turn_id)), 1, 16), 16)), toFixedString('', 16))), ('key:trace', if(trace_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', trace_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.consortium_member
  WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))))
 )
)
WHERE (one.2) != toFixedString('', 16);

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key) SELECT DISTINCT
 {pass:String},
 one.1,
 toDate(0),
 project,
 one.2
FROM
(
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16))), ('key:tried', if(attempt_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('tried', '\0', project, '\0', attempt_id)), 1, 16), 16))), ('key:rolled', if(rollout_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('rolled', '\0', project, '\0', rollout_id)), 1, 16), 16))), ('key:definition', if(system_prompt = toFixedString('', 16), toFixedString('', 16), if(lower(hex(system_prompt)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(system_prompt)))), 1, 16), 16)))), ('key:definition', if(tool_definitions = toFixedString('', 16), toFixedString('', 16), if(lower(hex(tool_definitions)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(tool_definitions)))), 1, 16), 16)))), ('key:definition', if(context_assembled = toFixedString('', 16), toFixedString('', 16), if(lower(hex(context_assembled)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(context_assembled)))), 1, 16), 16))))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.llm_call
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:message', if(concat(scope, '\0', lower(hex(hash))) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('message', '\0', project, '\0', concat(scope, '\0', lower(hex(hash))))), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(input_messages) AS hash
  FROM
  (
   SELECT *
   FROM turnspan.llm_call
   WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
   ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
   ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
   ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   )))))
  )
  WHERE session_id = ''
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:message', if(concat(scope, '\0', lower(hex(hash))) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('message', '\0', project, '\0', concat(scope, '\0', lower(hex(hash))))), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(output_messages) AS hash
  FROM
  (
   SELECT *
   FROM turnspan.llm_call
   WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
   ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
   ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
   ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   )))))
  )
  WHERE session_id = ''
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16))), ('key:definition', if(system_prompt = toFixedString('', 16), toFixedString('', 16), if(lower(hex(system_prompt)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(system_prompt)))), 1, 16), 16)))), ('key:definition', if(tool_definitions = toFixedString('', 16), toFixedString('', 16), if(lower(hex(tool_definitions)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(tool_definitions)))), 1, 16), 16))))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.llm_call_running
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:message', if(concat(scope, '\0', lower(hex(hash))) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('message', '\0', project, '\0', concat(scope, '\0', lower(hex(hash))))), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(input_messages) AS hash
  FROM
  (
   SELECT *
   FROM turnspan.llm_call_running
   WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
   ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
   ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
   ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   ))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
   )))))
  )
  WHERE session_id = ''
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16))), ('key:tried', if(attempt_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('tried', '\0', project, '\0', attempt_id)), 1, 16), 16))), ('key:rolled', if(rollout_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('rolled', '\0', project, '\0', rollout_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.turn_summary
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((toString(user_id) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', toString(user_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.tool_call
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16)))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.span
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  ))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16))), ('key:span', if(assembly_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', assembly_id)), 1, 16), 16))), ('key:definition', if(context_hash = toFixedString('', 16), toFixedString('', 16), if(lower(hex(context_hash)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(context_hash)))), 1, 16), 16))))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.context_assembly
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:definition', if(content_hash = toFixedString('', 16), toFixedString('', 16), if(lower(hex(content_hash)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(content_hash)))), 1, 16), 16))))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.context_item
  WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:artifact', if(artifact_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('artifact', '\0', project, '\0', artifact_id)), 1, 16), 16))), ('key:tried', if(attempt_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('tried', '\0', project, '\0', attempt_id)), 1, 16), 16))), ('key:rolled', if(rollout_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('rolled', '\0', project, '\0', rollout_id)), 1, 16), 16))), ('key:definition', if(content = toFixedString('', 16), toFixedString('', 16), if(lower(hex(content)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(content)))), 1, 16), 16))))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.artifact
  WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  )))))
 )
 UNION ALL
 SELECT
  project,
  arrayJoin([('key:span', if(span_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('span', '\0', project, '\0', span_id)), 1, 16), 16))), ('key:consortium', if(consortium_id = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('consortium', '\0', project, '\0', consortium_id)), 1, 16), 16))), ('key:definition', if(prompt = toFixedString('', 16), toFixedString('', 16), if(lower(hex(prompt)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(prompt)))), 1, 16), 16)))), ('key:definition', if(final_text = toFixedString('', 16), toFixedString('', 16), if(lower(hex(final_text)) = '', toFixedString('', 16), toFixedString(substring(SHA256(concat('definition', '\0', project, '\0', lower(hex(final_text)))), 1, 16), 16))))]) AS one
 FROM
 (
  SELECT *
  FROM turnspan.consortium
  WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  ))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  ))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  )))))
 )
)
WHERE (one.2) != toFixedString('', 16);

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key) SELECT
 {pass:String},
 'llm_call',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
)))))
UNION ALL
SELECT
 {pass:String},
 'turn_summary',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, turn_id, written_at)
FROM turnspan.turn_summary AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((toString(user_id) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', toString(user_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
)))))
UNION ALL
SELECT
 {pass:String},
 'annotation',
 toDate(0),
 '',
 sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at)
FROM turnspan.annotation AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(subject_id) != '') AND (toFixedString(substring(SHA256(concat(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), '\0', project, '\0', toString(subject_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
))) OR ((toString(chosen_id) != '') AND (toFixedString(substring(SHA256(concat(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), '\0', project, '\0', toString(chosen_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
))) OR ((toString(rejected_id) != '') AND (toFixedString(substring(SHA256(concat(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), '\0', project, '\0', toString(rejected_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
)))))
UNION ALL
SELECT
 {pass:String},
 'withdrawal',
 toDate(0),
 '',
 sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at)
FROM turnspan.withdrawal AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(subject_id) != '') AND (toFixedString(substring(SHA256(concat(transform(toString(subject_kind), ['session', 'thread', 'call', 'llm_call', 'tool', 'tool_call', 'context', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], ['session', 'session', 'span', 'span', 'span', 'span', 'span', 'span', 'turn', 'trace', 'artifact', 'attempt', 'rollout', 'consortium'], 'span'), '\0', project, '\0', toString(subject_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session', 'key:span', 'key:trace', 'key:turn'))
))))
UNION ALL
SELECT
 {pass:String},
 'dataset_case',
 toDate(0),
 '',
 sipHash128(project, dataset, version, case_id, written_at)
FROM turnspan.dataset_case AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
)))))
UNION ALL
SELECT
 {pass:String},
 'artifact',
 toDate(0),
 '',
 sipHash128(project, target, artifact_id, written_at)
FROM turnspan.artifact AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
)))))
UNION ALL
SELECT
 {pass:String},
 'artifact_check',
 toDate(0),
 '',
 sipHash128(project, source, artifact_id, written_at)
FROM turnspan.artifact_check AS r
WHERE ((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))))
UNION ALL
SELECT
 {pass:String},
 'consortium',
 toDate(0),
 '',
 sipHash128(project, consortium_id, written_at)
FROM turnspan.consortium AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
)))))
UNION ALL
SELECT
 {pass:String},
 'consortium_iteration',
 toDate(0),
 '',
 sipHash128(project, consortium_id, arbiter_id, written_at)
FROM turnspan.consortium_iteration AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
)))))
UNION ALL
SELECT
 {pass:String},
 'consortium_member',
 toDate(0),
 '',
 sipHash128(project, consortium_id, member_id, written_at)
FROM turnspan.consortium_member AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
)))))
UNION ALL
SELECT
 {pass:String},
 'tool_call',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.tool_call AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
)))))
UNION ALL
SELECT
 {pass:String},
 'message',
 toDate(0),
 '',
 sipHash128(project, scope, hash, written_at)
FROM turnspan.message AS r
WHERE ((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(scope) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(scope))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))))
UNION ALL
SELECT
 {pass:String},
 'context_assembly',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, assembly_id, written_at)
FROM turnspan.context_assembly AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
)))))
UNION ALL
SELECT
 {pass:String},
 'context_item',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)
FROM turnspan.context_item AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
)))))
UNION ALL
SELECT
 {pass:String},
 'span',
 toMonday(start_time),
 '',
 sipHash128(project, trace_id, start_time, span_id, written_at)
FROM turnspan.span AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
)))))
UNION ALL
SELECT
 {pass:String},
 'llm_call_running',
 toDate(0),
 '',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call_running AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND (((toString(session_id) != '') AND (toFixedString(substring(SHA256(concat('session', '\0', project, '\0', toString(session_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
))) OR ((toString(turn_id) != '') AND (toFixedString(substring(SHA256(concat('turn', '\0', project, '\0', toString(turn_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
))) OR ((session_id = '') AND (turn_id IN ('', trace_id)) AND (toString(trace_id) != '') AND (toFixedString(substring(SHA256(concat('trace', '\0', project, '\0', toString(trace_id))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
))) OR (((attributes['user.id']) != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', attributes['user.id'])), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
))) OR ((JSONExtractString(request_parameters, 'user') != '') AND (toFixedString(substring(SHA256(concat('user', '\0', project, '\0', JSONExtractString(request_parameters, 'user'))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
)))));

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
   toInt64(0) AS time
  FROM
  (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:session'))
  )
  UNION ALL
  SELECT
   key,
   toInt64(0) AS time
  FROM
  (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:span'))
  )
  UNION ALL
  SELECT
   key,
   toInt64(0) AS time
  FROM
  (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:trace'))
  )
  UNION ALL
  SELECT
   key,
   toInt64(0) AS time
  FROM
  (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:turn'))
  )
  UNION ALL
  SELECT
   key,
   toInt64(0) AS time
  FROM
  (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:user'))
  )
 )
 GROUP BY key
);

SELECT count()
FROM tombstone;

ALTER TABLE turnspan.keeping_row
 (DROP PARTITION '<time>-forget-<drawn>');

SELECT
 toUnixTimestamp64Nano(until) AS time,
 groupUniqArray(toString(kind))
FROM turnspan.tombstone
WHERE ((forgetting_id GLOBAL IN (
 SELECT forgetting_id
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = '68545D9CE83C03A6DBBBF39913E97D76')
)) OR ((forgetting_id = '') AND (until GLOBAL IN (
 SELECT until
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = '68545D9CE83C03A6DBBBF39913E97D76')
))))
GROUP BY time
ORDER BY time ASC;
