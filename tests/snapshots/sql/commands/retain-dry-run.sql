SELECT DISTINCT pass
FROM turnspan.keeping_row
ORDER BY pass ASC;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 toString(assumeNotNull(training_flag)),
 sipHash128(project, subject_id)
FROM turnspan.annotation_current
WHERE (subject_kind = 'turn') AND (kind = 'training_flag') AND isNotNull(training_flag)
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 '1',
 sipHash128(project, turn_id)
FROM turnspan.llm_call
WHERE (turn_id != '') AND ((project, span_id) GLOBAL IN (
 SELECT
  project,
  subject_id
 FROM turnspan.annotation_current
 WHERE (subject_kind IN ('call', 'llm_call')) AND (kind = 'training_flag') AND isNotNull(training_flag) AND (training_flag = 1)
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND 1
))
SETTINGS final = 0;

SELECT uniqExact(key)
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND (record = {record:String});

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 f.reason,
 sipHash128(project, turn_id)
FROM
(
 SELECT
  project,
  turn_id,
  parent_turn_id
 FROM turnspan.turn_summary
 WHERE parent_turn_id != ''
) AS t
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag')
) AS f ON f.key = sipHash128(t.project, t.parent_turn_id)
WHERE sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND 1
)
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 said,
 sipHash128(project, turn_id)
FROM turnspan.turn_summary AS t
GLOBAL INNER JOIN
(
 SELECT
  project AS of_project,
  subject_id,
  toString(assumeNotNull(training_flag)) AS said
 FROM turnspan.annotation_current
 WHERE (subject_kind = 'session') AND (kind = 'training_flag') AND isNotNull(training_flag)
) AS s ON (s.of_project = t.project) AND (s.subject_id = t.session_id)
WHERE (session_id != '') AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND 1
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 multiIf((f.reason = '1') AND ((t.status != 'running') OR (t.start_time < (now64(9) - toIntervalSecond({window:UInt64})))), 'archived', (f.reason = '-1') AND ((t.status != 'running') OR (t.start_time < (now64(9) - toIntervalSecond({window:UInt64})))), 'excluded', (f.reason NOT IN ('1', '-1')) AND (t.start_time < (now64(9) - toIntervalSecond({window:UInt64}))), 'unassessed', ''),
 t.key
FROM
(
 SELECT
  sipHash128(project, turn_id) AS key,
  start_time,
  status
 FROM turnspan.turn_summary
 FINAL
) AS t
GLOBAL LEFT JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag')
) AS f ON f.key = t.key
WHERE (t.key GLOBAL IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.llm_call
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.tool_call
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.context_assembly
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.context_item
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.span
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.artifact
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.consortium
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.consortium_iteration
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.consortium_member
 WHERE turn_id != ''
 UNION ALL
 SELECT sipHash128(project, turn_id)
 FROM turnspan.llm_call_running
 WHERE turn_id != ''
)) AND (multiIf((f.reason = '1') AND ((t.status != 'running') OR (t.start_time < (now64(9) - toIntervalSecond({window:UInt64})))), 'archived', (f.reason = '-1') AND ((t.status != 'running') OR (t.start_time < (now64(9) - toIntervalSecond({window:UInt64})))), 'excluded', (f.reason NOT IN ('1', '-1')) AND (t.start_time < (now64(9) - toIntervalSecond({window:UInt64}))), 'unassessed', '') != '')
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 if(f.reason = '1', 'archived', 'excluded'),
 f.key
FROM
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag')
) AS f
WHERE (f.reason IN ('1', '-1')) AND (f.key GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
 )
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.llm_call
WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.llm_call
  WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.tool_call
WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.tool_call
  WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.context_assembly
WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.context_assembly
  WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.context_item
WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.context_item
  WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.span
WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.span
  WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.artifact
WHERE (turn_id != '') AND (created_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.artifact
  WHERE (turn_id != '') AND (created_at < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.consortium
WHERE (turn_id != '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.consortium
  WHERE (turn_id != '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.consortium_iteration
WHERE (turn_id != '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.consortium_iteration
  WHERE (turn_id != '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.consortium_member
WHERE (turn_id != '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.consortium_member
  WHERE (turn_id != '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, turn_id)
FROM turnspan.llm_call_running
WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT sipHash128(project, turn_id)
 FROM turnspan.turn_summary
 WHERE sipHash128(project, turn_id) GLOBAL IN (
  SELECT sipHash128(project, turn_id)
  FROM turnspan.llm_call_running
  WHERE (turn_id != '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64})))
 )
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND 1
)) AND (sipHash128(project, turn_id) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'flag') AND (reason IN ('1', '-1'))
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.tool_call AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, session_id, start_time, assembly_id, written_at)
FROM turnspan.context_assembly AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)
FROM turnspan.context_item AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, trace_id, start_time, span_id, written_at)
FROM turnspan.span AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 u.reason,
 sipHash128(project, target, artifact_id, written_at)
FROM turnspan.artifact AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND (lineage_id = '') AND (attempt_id = '') AND ((project, artifact_id) GLOBAL NOT IN (
 SELECT
  project,
  arrayJoin([subject_id, chosen_id, rejected_id])
 FROM turnspan.annotation
 WHERE subject_kind = 'artifact'
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 u.reason,
 sipHash128(project, consortium_id, written_at)
FROM turnspan.consortium AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 u.reason,
 sipHash128(project, consortium_id, arbiter_id, written_at)
FROM turnspan.consortium_iteration AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 u.reason,
 sipHash128(project, consortium_id, member_id, written_at)
FROM turnspan.consortium_member AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 u.reason,
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call_running AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn')
) AS u ON u.key = sipHash128(project, turn_id)
WHERE (turn_id != '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 multiIf((if(o.said != '', o.said, s.said) = '1') AND 1, 'archived', (if(o.said != '', o.said, s.said) = '-1') AND 1, 'excluded', (if(o.said != '', o.said, s.said) NOT IN ('1', '-1')) AND (c.start_time < (now64(9) - toIntervalSecond({window:UInt64}))), 'unassessed', ''),
 sipHash128(project, trace_id, span_id)
FROM
(
 SELECT
  project,
  trace_id,
  span_id,
  session_id,
  start_time
 FROM turnspan.llm_call
 WHERE turn_id = ''
) AS c
GLOBAL LEFT JOIN
(
 SELECT
  project AS of_project,
  subject_id,
  toString(max(assumeNotNull(training_flag))) AS said
 FROM turnspan.annotation_current
 WHERE (kind = 'training_flag') AND isNotNull(training_flag) AND (subject_kind IN ('call', 'llm_call'))
 GROUP BY
  project,
  subject_id
) AS o ON (o.of_project = c.project) AND (o.subject_id = c.span_id)
GLOBAL LEFT JOIN
(
 SELECT
  project AS of_project,
  subject_id,
  toString(max(assumeNotNull(training_flag))) AS said
 FROM turnspan.annotation_current
 WHERE (kind = 'training_flag') AND isNotNull(training_flag) AND (subject_kind = 'session')
 GROUP BY
  project,
  subject_id
) AS s ON (s.of_project = c.project) AND (s.subject_id = c.session_id)
WHERE multiIf((if(o.said != '', o.said, s.said) = '1') AND 1, 'archived', (if(o.said != '', o.said, s.said) = '-1') AND 1, 'excluded', (if(o.said != '', o.said, s.said) NOT IN ('1', '-1')) AND (c.start_time < (now64(9) - toIntervalSecond({window:UInt64}))), 'unassessed', '') != ''
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'call')
) AS u ON u.key = sipHash128(project, trace_id, span_id)
WHERE (turn_id = '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 u.reason,
 sipHash128(project, trace_id, start_time, span_id, written_at)
FROM turnspan.span AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'call')
) AS u ON u.key = sipHash128(project, trace_id, span_id)
WHERE (turn_id = '') AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 u.reason,
 sipHash128(project, target, artifact_id, written_at)
FROM turnspan.artifact AS r
GLOBAL INNER JOIN
(
 SELECT
  key,
  reason
 FROM turnspan.keeping_row
 FINAL
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'call')
) AS u ON u.key = sipHash128(project, trace_id, call_id)
WHERE (turn_id = '') AND (lineage_id = '') AND (attempt_id = '') AND ((project, artifact_id) GLOBAL NOT IN (
 SELECT
  project,
  arrayJoin([subject_id, chosen_id, rejected_id])
 FROM turnspan.annotation
 WHERE subject_kind = 'artifact'
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 'unassessed',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.tool_call AS r
WHERE (turn_id = '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 'unassessed',
 sipHash128(project, session_id, start_time, assembly_id, written_at)
FROM turnspan.context_assembly AS r
WHERE (turn_id = '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, session_id, start_time, assembly_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_assembly') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 'unassessed',
 sipHash128(project, session_id, start_time, assembly_id, item_id, written_at)
FROM turnspan.context_item AS r
WHERE (turn_id = '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_item') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toMonday(start_time),
 'unassessed',
 sipHash128(project, trace_id, start_time, span_id, written_at)
FROM turnspan.span AS r
WHERE (turn_id = '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, target, artifact_id, written_at)
FROM turnspan.artifact AS r
WHERE (turn_id = '') AND (created_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, target, artifact_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND 1
)) AND (lineage_id = '') AND (attempt_id = '') AND ((project, artifact_id) GLOBAL NOT IN (
 SELECT
  project,
  arrayJoin([subject_id, chosen_id, rejected_id])
 FROM turnspan.annotation
 WHERE subject_kind = 'artifact'
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, consortium_id, written_at)
FROM turnspan.consortium AS r
WHERE (turn_id = '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, consortium_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, consortium_id, arbiter_id, written_at)
FROM turnspan.consortium_iteration AS r
WHERE (turn_id = '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, consortium_id, arbiter_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium_iteration') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, consortium_id, member_id, written_at)
FROM turnspan.consortium_member AS r
WHERE (turn_id = '') AND (started_at < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, consortium_id, member_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium_member') AND 1
)) AND 1
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unassessed',
 sipHash128(project, session_id, start_time, span_id, written_at)
FROM turnspan.llm_call_running AS r
WHERE (turn_id = '') AND (start_time < (now64(9) - toIntervalSecond({window:UInt64}))) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL NOT IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND 1
)) AND 1
SETTINGS final = 0;

SELECT count()
FROM turnspan.definition;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unreferenced',
 sipHash128(project, hash, written_at)
FROM turnspan.definition AS r
WHERE (modulo(cityHash64(hash), 1) = 0) AND (written_at < fromUnixTimestamp64Nano({since:Int64}, 'UTC')) AND (sipHash128(project, hash) GLOBAL NOT IN (
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions], [context_assembled])) AS hash
  FROM turnspan.llm_call
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions])) AS hash
  FROM turnspan.llm_call_running
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([context_hash])) AS hash
  FROM turnspan.context_assembly
  WHERE sipHash128(project, session_id, start_time, assembly_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_assembly') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content_hash])) AS hash
  FROM turnspan.context_item
  WHERE sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_item') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([prompt], [final_text])) AS hash
  FROM turnspan.consortium
  WHERE sipHash128(project, consortium_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content])) AS hash
  FROM turnspan.artifact
  WHERE sipHash128(project, target, artifact_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content])) AS hash
  FROM turnspan.agent_version
  WHERE sipHash128(project, lineage_id, version_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'agent_version') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 '',
 sipHash128(project, hash)
FROM turnspan.definition
WHERE sipHash128(project, hash, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'definition') AND 1
)
SETTINGS final = 0;

SELECT count()
FROM turnspan.message;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 'unreferenced',
 sipHash128(project, scope, hash, written_at)
FROM turnspan.message AS r
WHERE (modulo(cityHash64(scope), 1) = 0) AND (written_at < fromUnixTimestamp64Nano({since:Int64}, 'UTC')) AND (sipHash128(project, scope, hash) GLOBAL NOT IN (
 SELECT sipHash128(project, scope, hash) AS key
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(arrayConcat(input_messages, output_messages)) AS hash
  FROM turnspan.llm_call
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(scope), 1) = 0)
 UNION ALL
 SELECT sipHash128(project, scope, hash) AS key
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(arrayConcat(input_messages)) AS hash
  FROM turnspan.llm_call_running
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL NOT IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND 1
  )
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(scope), 1) = 0)
))
SETTINGS final = 0;

INSERT INTO turnspan.keeping_row (pass, record, week, reason, key)
SETTINGS final = 0
SELECT
 {pass:String},
 {record:String},
 toDate(0),
 '',
 sipHash128(project, scope, hash)
FROM turnspan.message
WHERE sipHash128(project, scope, hash, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'message') AND 1
)
SETTINGS final = 0;

SELECT
 `table`,
 sum(rows),
 sum(bytes_on_disk),
 count()
FROM system.parts
WHERE active AND (database = currentDatabase())
GROUP BY `table`;

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

SELECT
 name,
 engine_full
FROM system.tables
WHERE (database = {database:String}) AND (name IN ({names:Array(String)}));

ALTER TABLE turnspan.keeping_row
 (DROP PARTITION '<time>-retain-<drawn>');
