SELECT 1
FROM turnspan.llm_call
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.turn_summary
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.annotation
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.withdrawal
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.review_queue
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.dataset_case
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.artifact
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.artifact_check
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.evolution
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.insight
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.agent_version
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.attempt
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.rollout
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.lineage_event
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.lineage
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.experiment
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.consortium
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.consortium_iteration
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.consortium_member
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.tool_call
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.message
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.definition
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.context_assembly
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.context_item
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.span
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.import_position
WHERE project = {name:String}
LIMIT 1
UNION ALL
SELECT 1
FROM turnspan.llm_call_running
WHERE project = {name:String}
LIMIT 1;

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
   [('project', {id:String})] AS value
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
   [('project', toString(project))] AS owners
  FROM turnspan.llm_call
  WHERE 1
  UNION ALL
  SELECT
   'turn_summary' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, turn_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.turn_summary
  WHERE 1
  UNION ALL
  SELECT
   'annotation' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.annotation
  WHERE 1
  UNION ALL
  SELECT
   'withdrawal' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.withdrawal
  WHERE 1
  UNION ALL
  SELECT
   'review_queue' AS record,
   project,
   written_at AS began,
   (toDate(0), sipHash128(project, name, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.review_queue
  WHERE 1
  UNION ALL
  SELECT
   'dataset_case' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, dataset, version, case_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.dataset_case
  WHERE 1
  UNION ALL
  SELECT
   'artifact' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, target, artifact_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.artifact
  WHERE 1
  UNION ALL
  SELECT
   'artifact_check' AS record,
   project,
   checked_at AS began,
   (toDate(0), sipHash128(project, source, artifact_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.artifact_check
  WHERE 1
  UNION ALL
  SELECT
   'evolution' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, lineage_id, evolution_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.evolution
  WHERE 1
  UNION ALL
  SELECT
   'insight' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, insight_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.insight
  WHERE 1
  UNION ALL
  SELECT
   'agent_version' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, lineage_id, version_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.agent_version
  WHERE 1
  UNION ALL
  SELECT
   'attempt' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, lineage_id, rollout_id, attempt_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.attempt
  WHERE 1
  UNION ALL
  SELECT
   'rollout' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, lineage_id, rollout_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.rollout
  WHERE 1
  UNION ALL
  SELECT
   'lineage_event' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, lineage_id, kind, event_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.lineage_event
  WHERE 1
  UNION ALL
  SELECT
   'lineage' AS record,
   project,
   opened_at AS began,
   (toDate(0), sipHash128(project, experiment_id, lineage_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.lineage
  WHERE 1
  UNION ALL
  SELECT
   'experiment' AS record,
   project,
   created_at AS began,
   (toDate(0), sipHash128(project, experiment_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.experiment
  WHERE 1
  UNION ALL
  SELECT
   'consortium' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.consortium
  WHERE 1
  UNION ALL
  SELECT
   'consortium_iteration' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, arbiter_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.consortium_iteration
  WHERE 1
  UNION ALL
  SELECT
   'consortium_member' AS record,
   project,
   started_at AS began,
   (toDate(0), sipHash128(project, consortium_id, member_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.consortium_member
  WHERE 1
  UNION ALL
  SELECT
   'tool_call' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.tool_call
  WHERE 1
  UNION ALL
  SELECT
   'message' AS record,
   project,
   first_seen AS began,
   (toDate(0), sipHash128(project, scope, hash, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.message
  WHERE 1
  UNION ALL
  SELECT
   'definition' AS record,
   project,
   first_seen AS began,
   (toDate(0), sipHash128(project, hash, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.definition
  WHERE 1
  UNION ALL
  SELECT
   'context_assembly' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, assembly_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.context_assembly
  WHERE 1
  UNION ALL
  SELECT
   'context_item' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.context_item
  WHERE 1
  UNION ALL
  SELECT
   'span' AS record,
   project,
   start_time AS began,
   (toMonday(start_time), sipHash128(project, trace_id, start_time, span_id, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.span
  WHERE 1
  UNION ALL
  SELECT
   'import_position' AS record,
   project,
   began_at AS began,
   (toDate(0), sipHash128(project, kind, source, written_at)) AS value,
   [('project', toString(project))] AS owners
  FROM turnspan.import_position
  WHERE 1
  UNION ALL
  SELECT
   'llm_call_running' AS record,
   project,
   start_time AS began,
   (toDate(0), sipHash128(project, session_id, start_time, span_id, written_at)) AS value,
   [('project', toString(project))] AS owners
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
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
  )
 )), owners)
) AS o
GLOBAL INNER JOIN
(
 SELECT DISTINCT
  key,
  fromUnixTimestamp64Nano(0, 'UTC') AS last
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
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
   WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
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
 WHERE asked AND (hex(key) = '260CD75D19F7FFFB9E71583A0FD046F1')
)) OR ((forgetting_id = '') AND (until GLOBAL IN (
 SELECT until
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = '260CD75D19F7FFFB9E71583A0FD046F1')
))));
