SELECT 1
FROM turnspan.llm_call
WHERE project = {name:String}
LIMIT 1;

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
  arrayJoin([('key:project', toFixedString(substring(SHA256(concat('project', '\0', project, '\0', {id:String})), 1, 16), 16))]) AS one
 FROM
 (
  SELECT {project:String} AS project
 )
)
WHERE (one.2) != toFixedString('', 16);

SELECT DISTINCT record
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND startsWith(record, {unit:String});

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key) SELECT
 {pass:String},
 'llm_call',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'turn_summary',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, turn_id, written_at)
FROM turnspan.turn_summary AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'annotation',
 toDate(0),
 '',
 sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at)
FROM turnspan.annotation AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'withdrawal',
 toDate(0),
 '',
 sipHash128(project, subject_kind, kind, subject_id, withdrawal_id, written_at)
FROM turnspan.withdrawal AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'review_queue',
 toDate(0),
 '',
 sipHash128(project, name, written_at)
FROM turnspan.review_queue AS r
WHERE ((written_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'dataset_case',
 toDate(0),
 '',
 sipHash128(project, dataset, version, case_id, written_at)
FROM turnspan.dataset_case AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'artifact',
 toDate(0),
 '',
 sipHash128(project, target, artifact_id, written_at)
FROM turnspan.artifact AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'artifact_check',
 toDate(0),
 '',
 sipHash128(project, source, artifact_id, written_at)
FROM turnspan.artifact_check AS r
WHERE ((checked_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'evolution',
 toDate(0),
 '',
 sipHash128(project, lineage_id, evolution_id, written_at)
FROM turnspan.evolution AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'insight',
 toDate(0),
 '',
 sipHash128(project, insight_id, written_at)
FROM turnspan.insight AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'agent_version',
 toDate(0),
 '',
 sipHash128(project, lineage_id, version_id, written_at)
FROM turnspan.agent_version AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'attempt',
 toDate(0),
 '',
 sipHash128(project, lineage_id, rollout_id, attempt_id, written_at)
FROM turnspan.attempt AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'rollout',
 toDate(0),
 '',
 sipHash128(project, lineage_id, rollout_id, written_at)
FROM turnspan.rollout AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'lineage_event',
 toDate(0),
 '',
 sipHash128(project, lineage_id, kind, event_id, written_at)
FROM turnspan.lineage_event AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'lineage',
 toDate(0),
 '',
 sipHash128(project, experiment_id, lineage_id, written_at)
FROM turnspan.lineage AS r
WHERE ((opened_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'experiment',
 toDate(0),
 '',
 sipHash128(project, experiment_id, written_at)
FROM turnspan.experiment AS r
WHERE ((created_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'consortium',
 toDate(0),
 '',
 sipHash128(project, consortium_id, written_at)
FROM turnspan.consortium AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'consortium_iteration',
 toDate(0),
 '',
 sipHash128(project, consortium_id, arbiter_id, written_at)
FROM turnspan.consortium_iteration AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'consortium_member',
 toDate(0),
 '',
 sipHash128(project, consortium_id, member_id, written_at)
FROM turnspan.consortium_member AS r
WHERE ((started_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'tool_call',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.tool_call AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'message',
 toDate(0),
 '',
 sipHash128(project, scope, hash, written_at)
FROM turnspan.message AS r
WHERE ((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'definition',
 toDate(0),
 '',
 sipHash128(project, hash, written_at)
FROM turnspan.definition AS r
WHERE ((first_seen <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'context_assembly',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, assembly_id, written_at)
FROM turnspan.context_assembly AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'context_item',
 toMonday(start_time),
 '',
 sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)
FROM turnspan.context_item AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'span',
 toMonday(start_time),
 '',
 sipHash128(project, trace_id, start_time, span_id, written_at)
FROM turnspan.span AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'import_position',
 toDate(0),
 '',
 sipHash128(project, kind, source, written_at)
FROM turnspan.import_position AS r
WHERE ((began_at <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))))
UNION ALL
SELECT
 {pass:String},
 'llm_call_running',
 toDate(0),
 '',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call_running AS r
WHERE ((start_time <= fromUnixTimestamp64Nano(0, 'UTC')) AND ((toString(project) != '') AND (toFixedString(substring(SHA256(concat('project', '\0', project, '\0', toString(project))), 1, 16), 16) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-forget-<drawn>') AND (record IN ('key:project'))
))));

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
 toUnixTimestamp64Nano(until) AS time,
 groupUniqArray(toString(kind))
FROM turnspan.tombstone
WHERE ((forgetting_id GLOBAL IN (
 SELECT forgetting_id
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = '260CD75D19F7FFFB9E71583A0FD046F1')
)) OR ((forgetting_id = '') AND (until GLOBAL IN (
 SELECT until
 FROM turnspan.tombstone
 WHERE asked AND (hex(key) = '260CD75D19F7FFFB9E71583A0FD046F1')
))))
GROUP BY time
ORDER BY time ASC;
