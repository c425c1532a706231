SELECT count()
FROM artifact
WHERE (kind != 'correction') AND (({project:String} = '') OR (project = {project:String})) AND (empty({kinds:Array(String)}) OR (kind IN ({kinds:Array(String)}))) AND (created_at >= {since:DateTime64(9, 'UTC')}) AND ({again:Bool} OR ((project, artifact_id) NOT IN (
 SELECT
  project,
  artifact_id
 FROM artifact_check
 WHERE (source = {source:String}) AND (checked_at >= addNanoseconds(revised_at, {window:Int64}))
)));

SELECT
 project,
 target,
 artifact_id,
 kind,
 version,
 content_bytes,
 lower(hex(content)) AS hash,
 session_id,
 trace_id,
 turn_id,
 call_id,
 toUnixTimestamp64Nano(created_at) AS told_at
FROM artifact
WHERE (kind != 'correction') AND (({project:String} = '') OR (project = {project:String})) AND (empty({kinds:Array(String)}) OR (kind IN ({kinds:Array(String)}))) AND (created_at >= {since:DateTime64(9, 'UTC')}) AND ({again:Bool} OR ((project, artifact_id) NOT IN (
 SELECT
  project,
  artifact_id
 FROM artifact_check
 WHERE (source = {source:String}) AND (checked_at >= addNanoseconds(revised_at, {window:Int64}))
))) AND ((project, target, artifact_id) > ({after_project:String}, {after_target:String}, {after_id:String}))
ORDER BY
 project ASC,
 target ASC,
 artifact_id ASC
LIMIT {size:UInt32};

SELECT
 project,
 lower(hex(hash)) AS digest,
 body
FROM definition
WHERE (project IN ({projects:Array(String)})) AND (hash IN (
 SELECT CAST(unhex(arrayJoin({hashes:Array(String)})), 'FixedString(16)')
));

SELECT
 project,
 source,
 artifact_id,
 turn_id,
 target,
 decision,
 reason,
 revision,
 found_by,
 revised_at,
 later_revision,
 correction_id,
 similarity,
 decided_at,
 checked_at,
 toUnixTimestamp64Nano(decided_at) AS decided
FROM artifact_check
WHERE (source = {source:String}) AND (project IN ({projects:Array(String)})) AND (artifact_id IN ({ids:Array(String)}));

SELECT
 project,
 source,
 artifact_id,
 turn_id,
 target,
 decision,
 reason,
 revision,
 found_by,
 revised_at,
 later_revision,
 correction_id,
 similarity,
 decided_at,
 checked_at,
 toUnixTimestamp64Nano(decided_at) AS decided
FROM artifact_check
WHERE (project IN ({projects:Array(String)})) AND (turn_id IN ({turns:Array(String)}));

SELECT count()
FROM tombstone;

INSERT INTO turnspan.annotation FORMAT Native;

INSERT INTO turnspan.artifact_check FORMAT Native;

SELECT
 project,
 session_id,
 trace_id,
 turn_id
FROM turn_summary
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM attempt
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM rollout
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM consortium
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));

SELECT count()
FROM llm_call_running
WHERE (status = 'running') AND (writer IN ({writers:Array(String)}));
