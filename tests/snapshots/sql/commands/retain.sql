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

INSERT INTO turnspan.keeping_row (pass, record, reason) SELECT
 {pass:String},
 {record:String},
 {reason:String};

SELECT reason
FROM turnspan.keeping_row
WHERE (pass = {pass:String}) AND (record = {record:String})
LIMIT 1;

SELECT toString(toUnixTimestamp64Nano(min(applied_at)))
FROM turnspan.schema_migration;

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

SELECT count()
FROM turnspan.llm_call AS r
FINAL
WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0) AND (reason = 'archived')
));

SELECT count()
FROM turnspan.turn_summary AS r
FINAL
WHERE sipHash128(project, turn_id) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
);

SELECT count()
FROM turnspan.annotation AS r
FINAL
WHERE ((project, subject_id) GLOBAL IN (
 SELECT
  project,
  arrayJoin([turn_id, session_id, attempt_id]) AS id
 FROM turnspan.turn_summary
 WHERE (sipHash128(project, turn_id) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id, turn_id, session_id, attempt_id, consortium_id]) AS id
 FROM turnspan.llm_call
 WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id]) AS id
 FROM turnspan.tool_call
 WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id]) AS id
 FROM turnspan.span
 WHERE (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([artifact_id]) AS id
 FROM turnspan.artifact
 WHERE (sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
 )) AND (id != '')
)) OR ((project, rejected_id) GLOBAL IN (
 SELECT
  project,
  arrayJoin([turn_id, session_id, attempt_id]) AS id
 FROM turnspan.turn_summary
 WHERE (sipHash128(project, turn_id) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id, turn_id, session_id, attempt_id, consortium_id]) AS id
 FROM turnspan.llm_call
 WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id]) AS id
 FROM turnspan.tool_call
 WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id]) AS id
 FROM turnspan.span
 WHERE (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([artifact_id]) AS id
 FROM turnspan.artifact
 WHERE (sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
 )) AND (id != '')
));

SELECT count()
FROM turnspan.withdrawal AS r
FINAL
WHERE (project, subject_id) GLOBAL IN (
 SELECT
  project,
  arrayJoin([turn_id, session_id, attempt_id]) AS id
 FROM turnspan.turn_summary
 WHERE (sipHash128(project, turn_id) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id, turn_id, session_id, attempt_id, consortium_id]) AS id
 FROM turnspan.llm_call
 WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id]) AS id
 FROM turnspan.tool_call
 WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([span_id]) AS id
 FROM turnspan.span
 WHERE (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (reason = 'archived')
 )) AND (id != '')
 UNION ALL
 SELECT
  project,
  arrayJoin([artifact_id]) AS id
 FROM turnspan.artifact
 WHERE (sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
 )) AND (id != '')
);

SELECT count()
FROM turnspan.tool_call AS r
FINAL
WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0) AND (reason = 'archived')
));

SELECT count()
FROM turnspan.message AS r
FINAL
WHERE sipHash128(project, scope, hash) GLOBAL IN (
 SELECT sipHash128(project, scope, hash) AS key
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(arrayConcat(input_messages, output_messages)) AS hash
  FROM turnspan.llm_call
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, scope, hash) AS key
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(arrayConcat(input_messages)) AS hash
  FROM turnspan.llm_call_running
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
);

SELECT count()
FROM turnspan.definition AS r
FINAL
WHERE sipHash128(project, hash) GLOBAL IN (
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions], [context_assembled])) AS hash
  FROM turnspan.llm_call
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions])) AS hash
  FROM turnspan.llm_call_running
  WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([context_hash])) AS hash
  FROM turnspan.context_assembly
  WHERE sipHash128(project, session_id, start_time, assembly_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_assembly') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content_hash])) AS hash
  FROM turnspan.context_item
  WHERE sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_item') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([prompt], [final_text])) AS hash
  FROM turnspan.consortium
  WHERE sipHash128(project, consortium_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content])) AS hash
  FROM turnspan.artifact
  WHERE sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content])) AS hash
  FROM turnspan.agent_version
  WHERE sipHash128(project, lineage_id, version_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'agent_version') AND (reason = 'archived')
  )
 )
 WHERE (hash != toFixedString('', 16)) AND 1
);

SELECT count()
FROM turnspan.span AS r
FINAL
WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0) AND (reason = 'archived')
));

SELECT
 sum(data_uncompressed_bytes),
 sum(rows)
FROM system.parts
WHERE active AND (database = {database:String}) AND (`table` = {table:String});

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 r.writer AS writer,
 r.service AS service,
 r.environment AS environment,
 r.session_id AS session_id,
 r.turn_id AS turn_id,
 r.trace_id AS trace_id,
 r.span_id AS span_id,
 r.parent_span_id AS parent_span_id,
 toUnixTimestamp64Nano(r.start_time) AS start_time,
 r.duration AS duration,
 r.scope_name AS scope_name,
 toJSONString(r.attributes) AS attributes,
 r.agent_name AS agent_name,
 r.agent_version AS agent_version,
 r.input_tokens AS input_tokens,
 r.output_tokens AS output_tokens,
 r.cache_read_tokens AS cache_read_tokens,
 r.cache_write_tokens AS cache_write_tokens,
 r.reasoning_tokens AS reasoning_tokens,
 toString(r.cost_usd) AS cost_usd,
 r.error_type AS error_type,
 r.error_message AS error_message,
 r.lineage_id AS lineage_id,
 r.rollout_id AS rollout_id,
 r.attempt_id AS attempt_id,
 r.time_to_first_chunk AS time_to_first_chunk,
 r.round AS round,
 r.provider AS provider,
 r.operation AS operation,
 r.request_model AS request_model,
 r.response_model AS response_model,
 r.response_id AS response_id,
 r.request_parameters AS request_parameters,
 r.stream AS stream,
 r.stream_outcome AS stream_outcome,
 r.tries AS tries,
 r.finish_reasons AS finish_reasons,
 r.tokens_estimated AS tokens_estimated,
 r.price_version AS price_version,
 arrayMap(one -> lower(hex(one)), r.input_messages) AS input_messages,
 arrayMap(one -> lower(hex(one)), r.output_messages) AS output_messages,
 lower(hex(r.system_prompt)) AS system_prompt,
 lower(hex(r.tool_definitions)) AS tool_definitions,
 lower(hex(r.context_assembled)) AS context_assembled,
 r.response_text AS response_text,
 r.response_thoughts AS response_thoughts,
 r.tool_calls AS tool_calls,
 r.consortium_id AS consortium_id,
 r.consortium_role AS consortium_role
FROM
(
 SELECT *
 FROM turnspan.llm_call AS r
 FINAL
 WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0) AND (reason = 'archived')
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, session_id, start_time, span_id, written_at)), 1) = 0)
) AS r;

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 r.writer AS writer,
 r.service AS service,
 r.environment AS environment,
 r.session_id AS session_id,
 r.turn_id AS turn_id,
 r.trace_id AS trace_id,
 r.span_id AS span_id,
 r.parent_span_id AS parent_span_id,
 toUnixTimestamp64Nano(r.start_time) AS start_time,
 r.duration AS duration,
 r.scope_name AS scope_name,
 toJSONString(r.attributes) AS attributes,
 r.agent_name AS agent_name,
 r.agent_version AS agent_version,
 r.input_tokens AS input_tokens,
 r.output_tokens AS output_tokens,
 r.cache_read_tokens AS cache_read_tokens,
 r.cache_write_tokens AS cache_write_tokens,
 r.reasoning_tokens AS reasoning_tokens,
 toString(r.cost_usd) AS cost_usd,
 r.error_type AS error_type,
 r.error_message AS error_message,
 r.lineage_id AS lineage_id,
 r.rollout_id AS rollout_id,
 r.attempt_id AS attempt_id,
 r.user_id AS user_id,
 r.parent_turn_id AS parent_turn_id,
 r.status AS status,
 r.user_message AS user_message,
 r.response_text AS response_text,
 r.stop_reason AS stop_reason,
 r.stop_detail AS stop_detail,
 r.rounds AS rounds,
 r.max_rounds AS max_rounds,
 r.llm_call_count AS llm_call_count,
 r.tool_call_count AS tool_call_count,
 r.tool_error_count AS tool_error_count,
 r.silent_rounds AS silent_rounds,
 r.max_identical_tool_streak AS max_identical_tool_streak,
 r.no_progress_rounds AS no_progress_rounds,
 r.turn_intent AS turn_intent,
 r.chat_mode AS chat_mode,
 r.task_type AS task_type,
 r.target AS target,
 r.models AS models
FROM
(
 SELECT *
 FROM turnspan.turn_summary AS r
 FINAL
 WHERE (sipHash128(project, turn_id) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, session_id, start_time, turn_id, written_at)), 1) = 0)
) AS r;

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 r.subject_kind AS subject_kind,
 r.subject_id AS subject_id,
 r.kind AS kind,
 r.annotation_id AS annotation_id,
 r.outcome AS outcome,
 r.training_flag AS training_flag,
 r.score AS score,
 r.comment AS comment,
 r.chosen_id AS chosen_id,
 r.rejected_id AS rejected_id,
 r.directive AS directive,
 r.author AS author,
 r.source AS source,
 toUnixTimestamp64Nano(r.created_at) AS created_at,
 r.confidence AS confidence,
 r.ranking_id AS ranking_id
FROM
(
 SELECT *
 FROM turnspan.annotation AS r
 FINAL
 WHERE ((project, subject_id) GLOBAL IN (
  SELECT
   project,
   arrayJoin([turn_id, session_id, attempt_id]) AS id
  FROM turnspan.turn_summary
  WHERE (sipHash128(project, turn_id) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([span_id, turn_id, session_id, attempt_id, consortium_id]) AS id
  FROM turnspan.llm_call
  WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([span_id]) AS id
  FROM turnspan.tool_call
  WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([span_id]) AS id
  FROM turnspan.span
  WHERE (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([artifact_id]) AS id
  FROM turnspan.artifact
  WHERE (sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
  )) AND (id != '')
 )) OR (((project, rejected_id) GLOBAL IN (
  SELECT
   project,
   arrayJoin([turn_id, session_id, attempt_id]) AS id
  FROM turnspan.turn_summary
  WHERE (sipHash128(project, turn_id) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([span_id, turn_id, session_id, attempt_id, consortium_id]) AS id
  FROM turnspan.llm_call
  WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([span_id]) AS id
  FROM turnspan.tool_call
  WHERE (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([span_id]) AS id
  FROM turnspan.span
  WHERE (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (reason = 'archived')
  )) AND (id != '')
  UNION ALL
  SELECT
   project,
   arrayJoin([artifact_id]) AS id
  FROM turnspan.artifact
  WHERE (sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
   SELECT key
   FROM turnspan.keeping_row
   WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
  )) AND (id != '')
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, subject_kind, kind, subject_id, annotation_id, written_at)), 1) = 0))
) AS r;

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 r.writer AS writer,
 r.service AS service,
 r.environment AS environment,
 r.session_id AS session_id,
 r.turn_id AS turn_id,
 r.trace_id AS trace_id,
 r.span_id AS span_id,
 r.parent_span_id AS parent_span_id,
 toUnixTimestamp64Nano(r.start_time) AS start_time,
 r.duration AS duration,
 r.scope_name AS scope_name,
 toJSONString(r.attributes) AS attributes,
 r.round AS round,
 r.name AS name,
 r.type AS type,
 r.call_id AS call_id,
 r.arguments AS arguments,
 r.result AS result,
 r.failed AS failed,
 r.error_type AS error_type,
 r.error_message AS error_message,
 r.agent_name AS agent_name
FROM
(
 SELECT *
 FROM turnspan.tool_call AS r
 FINAL
 WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0) AND (reason = 'archived')
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, session_id, start_time, span_id, written_at)), 1) = 0)
) AS r;

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 r.scope AS scope,
 lower(hex(r.hash)) AS hash,
 r.role AS role,
 r.name AS name,
 r.parts AS parts,
 r.source AS source,
 r.dialect AS dialect,
 toUnixTimestamp64Nano(r.first_seen) AS first_seen
FROM
(
 SELECT *
 FROM turnspan.message AS r
 FINAL
 WHERE (sipHash128(project, scope, hash) GLOBAL IN (
  SELECT sipHash128(project, scope, hash) AS key
  FROM
  (
   SELECT
    project,
    if(session_id = '', trace_id, session_id) AS scope,
    arrayJoin(arrayConcat(input_messages, output_messages)) AS hash
   FROM turnspan.llm_call
   WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, scope, hash) AS key
  FROM
  (
   SELECT
    project,
    if(session_id = '', trace_id, session_id) AS scope,
    arrayJoin(arrayConcat(input_messages)) AS hash
   FROM turnspan.llm_call_running
   WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, scope, hash, written_at)), 1) = 0)
) AS r;

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 lower(hex(r.hash)) AS hash,
 r.kind AS kind,
 r.body AS body,
 r.source AS source,
 toUnixTimestamp64Nano(r.first_seen) AS first_seen
FROM
(
 SELECT *
 FROM turnspan.definition AS r
 FINAL
 WHERE (sipHash128(project, hash) GLOBAL IN (
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([system_prompt], [tool_definitions], [context_assembled])) AS hash
   FROM turnspan.llm_call
   WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([system_prompt], [tool_definitions])) AS hash
   FROM turnspan.llm_call_running
   WHERE sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call_running') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([context_hash])) AS hash
   FROM turnspan.context_assembly
   WHERE sipHash128(project, session_id, start_time, assembly_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_assembly') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([content_hash])) AS hash
   FROM turnspan.context_item
   WHERE sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_item') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([prompt], [final_text])) AS hash
   FROM turnspan.consortium
   WHERE sipHash128(project, consortium_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([content])) AS hash
   FROM turnspan.artifact
   WHERE sipHash128(project, target, artifact_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'artifact') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
  UNION ALL
  SELECT sipHash128(project, hash) AS key
  FROM
  (
   SELECT
    project,
    arrayJoin(arrayConcat([content])) AS hash
   FROM turnspan.agent_version
   WHERE sipHash128(project, lineage_id, version_id, written_at) GLOBAL IN (
    SELECT key
    FROM turnspan.keeping_row
    WHERE (pass = '<time>-retain-<drawn>') AND (record = 'agent_version') AND (reason = 'archived')
   )
  )
  WHERE (hash != toFixedString('', 16)) AND 1
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, hash, written_at)), 1) = 0)
) AS r;

SELECT
 r.project AS project,
 toUnixTimestamp64Nano(r.written_at) AS written_at,
 r.writer AS writer,
 r.service AS service,
 r.environment AS environment,
 r.session_id AS session_id,
 r.turn_id AS turn_id,
 r.trace_id AS trace_id,
 r.span_id AS span_id,
 r.parent_span_id AS parent_span_id,
 toUnixTimestamp64Nano(r.start_time) AS start_time,
 r.duration AS duration,
 r.scope_name AS scope_name,
 toJSONString(r.attributes) AS attributes,
 r.trace_state AS trace_state,
 r.name AS name,
 r.kind AS kind,
 r.status_code AS status_code,
 r.status_message AS status_message,
 r.scope_version AS scope_version,
 toJSONString(r.resource) AS resource,
 r.events AS events,
 r.links AS links
FROM
(
 SELECT *
 FROM turnspan.span AS r
 FINAL
 WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0) AND (reason = 'archived')
 )) AND (modulo(reinterpretAsUInt32(sipHash128(project, trace_id, start_time, span_id, written_at)), 1) = 0)
) AS r;

INSERT INTO turnspan.turn_summary (project, written_at, writer, service, environment, session_id, turn_id, trace_id, span_id, parent_span_id, start_time, duration, scope_name, attributes, agent_name, agent_version, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, error_type, error_message, lineage_id, rollout_id, attempt_id, user_id, parent_turn_id, status, user_message, response_text, stop_reason, stop_detail, rounds, max_rounds, llm_call_count, tool_call_count, tool_error_count, silent_rounds, max_identical_tool_streak, no_progress_rounds, turn_intent, chat_mode, task_type, target, models) SELECT
 r.project,
 r.written_at - toIntervalNanosecond(1),
 r.writer,
 r.service,
 r.environment,
 r.session_id,
 r.turn_id,
 r.trace_id,
 r.span_id,
 r.parent_span_id,
 r.start_time,
 r.duration,
 r.scope_name,
 r.attributes,
 r.agent_name,
 r.agent_version,
 r.input_tokens,
 r.output_tokens,
 r.cache_read_tokens,
 r.cache_write_tokens,
 r.reasoning_tokens,
 r.cost_usd,
 r.error_type,
 '',
 r.lineage_id,
 r.rollout_id,
 r.attempt_id,
 r.user_id,
 r.parent_turn_id,
 r.status,
 '',
 '',
 r.stop_reason,
 '',
 r.rounds,
 r.max_rounds,
 r.llm_call_count,
 r.tool_call_count,
 r.tool_error_count,
 r.silent_rounds,
 r.max_identical_tool_streak,
 r.no_progress_rounds,
 r.turn_intent,
 r.chat_mode,
 r.task_type,
 r.target,
 r.models
FROM
(
 SELECT *
 FROM turnspan.turn_summary
 FINAL
) AS r
WHERE sipHash128(project, session_id, start_time, turn_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'turn_summary') AND 1
);

ALTER TABLE turnspan.llm_call
 (DELETE WHERE (toMonday(start_time) IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (week IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 )));

ALTER TABLE turnspan.consortium
 (DELETE WHERE sipHash128(project, consortium_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

ALTER TABLE turnspan.consortium_iteration
 (DELETE WHERE sipHash128(project, consortium_id, arbiter_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium_iteration') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

ALTER TABLE turnspan.consortium_member
 (DELETE WHERE sipHash128(project, consortium_id, member_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium_member') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

ALTER TABLE turnspan.tool_call
 (DELETE WHERE (toMonday(start_time) IN ('2014-12-29', '2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (week IN ('2014-12-29', '2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 )));

ALTER TABLE turnspan.message
 (DELETE WHERE sipHash128(project, scope, hash, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'message') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

ALTER TABLE turnspan.definition
 (DELETE WHERE sipHash128(project, hash, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'definition') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 ));

ALTER TABLE turnspan.context_assembly
 (DELETE WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, assembly_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_assembly') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 )));

ALTER TABLE turnspan.context_item
 (DELETE WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_item') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 )));

ALTER TABLE turnspan.span
 (DELETE WHERE (toMonday(start_time) IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
  SELECT key
  FROM turnspan.keeping_row
  WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (week IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
 )));

SELECT count()
FROM turnspan.llm_call AS r
WHERE (toMonday(start_time) IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'llm_call') AND (week IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
));

SELECT count()
FROM turnspan.consortium AS r
WHERE sipHash128(project, consortium_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
);

SELECT count()
FROM turnspan.consortium_iteration AS r
WHERE sipHash128(project, consortium_id, arbiter_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium_iteration') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
);

SELECT count()
FROM turnspan.consortium_member AS r
WHERE sipHash128(project, consortium_id, member_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'consortium_member') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
);

SELECT count()
FROM turnspan.tool_call AS r
WHERE (toMonday(start_time) IN ('2014-12-29', '2026-09-21')) AND (sipHash128(project, session_id, start_time, span_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'tool_call') AND (week IN ('2014-12-29', '2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
));

SELECT count()
FROM turnspan.message AS r
WHERE sipHash128(project, scope, hash, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'message') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
);

SELECT count()
FROM turnspan.definition AS r
WHERE sipHash128(project, hash, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'definition') AND (week IN ('1970-01-01')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
);

SELECT count()
FROM turnspan.context_assembly AS r
WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, assembly_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_assembly') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
));

SELECT count()
FROM turnspan.context_item AS r
WHERE (toMonday(start_time) IN ('2026-09-21')) AND (sipHash128(project, session_id, start_time, assembly_id, item_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'context_item') AND (week IN ('2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
));

SELECT count()
FROM turnspan.span AS r
WHERE (toMonday(start_time) IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (sipHash128(project, trace_id, start_time, span_id, written_at) GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'span') AND (week IN ('2014-12-29', '2019-05-27', '2026-09-21')) AND (modulo(reinterpretAsUInt32(key), 1) = 0)
));

SELECT count()
FROM
(
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions], [context_assembled])) AS hash
  FROM turnspan.llm_call
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions])) AS hash
  FROM turnspan.llm_call_running
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([context_hash])) AS hash
  FROM turnspan.context_assembly
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content_hash])) AS hash
  FROM turnspan.context_item
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([prompt], [final_text])) AS hash
  FROM turnspan.consortium
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content])) AS hash
  FROM turnspan.artifact
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([content])) AS hash
  FROM turnspan.agent_version
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
)
WHERE (key GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'definition:gone') AND 1
)) AND (key GLOBAL NOT IN (
 SELECT sipHash128(project, hash)
 FROM turnspan.definition
));

SELECT uniqExact(sipHash128(project, hash))
FROM turnspan.definition AS r
WHERE (modulo(cityHash64(hash), 1) = 0) AND (written_at < fromUnixTimestamp64Nano({since:Int64}, 'UTC')) AND (sipHash128(project, hash) GLOBAL NOT IN (
 SELECT sipHash128(project, hash) AS key
 FROM
 (
  SELECT
   project,
   arrayJoin(arrayConcat([system_prompt], [tool_definitions], [context_assembled])) AS hash
  FROM turnspan.llm_call
  WHERE 1
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
  WHERE 1
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
  WHERE 1
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
  WHERE 1
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
  WHERE 1
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
  WHERE 1
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
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(hash), 1) = 0)
));

SELECT count()
FROM
(
 SELECT sipHash128(project, scope, hash) AS key
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(arrayConcat(input_messages, output_messages)) AS hash
  FROM turnspan.llm_call
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
 UNION ALL
 SELECT sipHash128(project, scope, hash) AS key
 FROM
 (
  SELECT
   project,
   if(session_id = '', trace_id, session_id) AS scope,
   arrayJoin(arrayConcat(input_messages)) AS hash
  FROM turnspan.llm_call_running
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND 1
)
WHERE (key GLOBAL IN (
 SELECT key
 FROM turnspan.keeping_row
 WHERE (pass = '<time>-retain-<drawn>') AND (record = 'message:gone') AND 1
)) AND (key GLOBAL NOT IN (
 SELECT sipHash128(project, scope, hash)
 FROM turnspan.message
));

SELECT uniqExact(sipHash128(project, scope, hash))
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
  WHERE 1
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
  WHERE 1
 )
 WHERE (hash != toFixedString('', 16)) AND (modulo(cityHash64(scope), 1) = 0)
));

ALTER TABLE turnspan.keeping_row
 (DROP PARTITION '<time>-retain-<drawn>');
