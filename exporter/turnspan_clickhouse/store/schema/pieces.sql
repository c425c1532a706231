-- What several schema files, or one twice, say in the same words: there a line has {piece:NAME|ONE|TWO},
-- and has these lines in its place, indented as it is, with ONE for $1. They are put in when a file is
-- read, before anything else is. A piece of a table stays as it is for ever, as the table's file does.

--- calls: a model call, as what is joined to turns has it
toString(project) AS content_project,
session_id AS content_scope,
1 AS kind,
system_prompt AS hash,
response_thoughts AS text,
turn_id AS turn,
span_id AS span,
start_time AS time,
written_at AS written,
toString(provider) AS vendor,
toString(if(response_model = '', request_model, response_model)) AS model,
context_assembled AS context,
tool_calls AS asked

--- turns: turns of sessions, or of traces without one: the column of the scope; how session_id and '' compare
SELECT
    toString(project), $1, 3, toFixedString('', 16), user_message, turn_id, '',
    toDateTime64(0, 9, 'UTC'), written_at, toString(turn_intent), toString(chat_mode),
    toString(task_type), target, toUInt32(0), false
FROM {database}.turn_summary
WHERE session_id $2 ''

--- tools: tools, likewise; the number of their kind; the columns behind
SELECT
    toString(project), $1, $3, toFixedString('', 16),
    concat(
        '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
        ',"result":', toJSONString(result),
        ',"failed":', if(failed, 'true', 'false'), '}'),
    turn_id, span_id, start_time, written_at, $4
FROM {database}.tool_call
WHERE session_id $2 ''

--- definitions: what the calls of a scope name by hash in these columns
-- A subquery: RESTORE under another database's name loses the alias of a table.
FROM (SELECT project, hash, body FROM {database}.definition) AS d
INNER JOIN
(
    SELECT DISTINCT project, session_id AS scope,
        arrayJoin([$1]) AS hash
    FROM {database}.llm_call
    WHERE session_id != ''
    UNION ALL
    SELECT DISTINCT project, trace_id AS scope,
        arrayJoin([$1]) AS hash
    FROM {database}.llm_call
    WHERE session_id = ''
) AS used ON d.project = used.project AND d.hash = used.hash

--- messages: the messages of hashes, in their order, and their name (llm_call_full says why so)
arraySort(arrayZip(
    arrayConcat(stored_hashes, $1),
    arrayConcat(
        arrayWithConstant(length(stored_hashes), toUInt32(0)), arrayEnumerate($1)),
    arrayConcat(stored_messages, arrayWithConstant(length($1), '')))) AS merged,
arrayPopBack(arrayPushFront(merged.1, toFixedString('', 16))) AS hashes_before,
arrayFill(
    (message, hash, before, position) -> position = 0 OR hash != before,
    merged.3, merged.1, hashes_before, merged.2) AS filled,
arraySort(
    (message, position) -> position,
    arrayFilter((message, position) -> position > 0, filled, merged.2),
    arrayFilter(position -> position > 0, merged.2)) AS found,
arrayMap(
    (message, hash) -> if(message != '', message, concat(
        '{"role":"unknown","parts":[],"missing":"', lower(hex(hash)), '"}')),
    found, $1) AS $2,

--- summaries: turns in agent_telemetry: record_type; how parent_turn_id and '' compare
SELECT
    false AS is_call,
    '$1' AS record_type,
    span_id AS id,
    addNanoseconds(start_time, toInt64(duration * 1e9)) AS created_at,
    project,
    session_id,
    toMonday(start_time) AS week,
    start_time,
    duration,
    turn_id,
    '' AS turn_of_call,
    '' AS message_scope,
    user_message,
    toFixedString('', 16) AS system_prompt_hash,
    [] AS input_messages,
    response_text,
    '' AS response_thoughts,
    '[]' AS tool_calls,
    arrayElement(models, 1) AS request_model,
    toLowCardinality('') AS response_model,
    toLowCardinality('') AS vendor,
    turn_intent AS intent,
    chat_mode AS mode,
    task_type AS type,
    target AS turn_target,
    input_tokens,
    output_tokens,
    toString(stop_reason) AS stop_reason,
    stop_detail,
    rounds,
    llm_call_count,
    tool_call_count AS tools_called,
    tool_error_count AS turn_tool_errors,
    cost_usd,
    error_type,
    error_message
FROM {database}.turn_summary FINAL
WHERE parent_turn_id $2 ''
SETTINGS do_not_merge_across_partitions_select_final = 1

--- judging: judgments that hold, what counts first: how kind and 'preference' compare
SELECT *
FROM {database}.annotation FINAL
WHERE kind $1 'preference'
    AND ((SELECT count() FROM {database}.withdrawal) = 0
        OR (project, subject_kind, kind, subject_id, annotation_id) NOT IN
            (SELECT project, subject_kind, kind, subject_id, annotation_id
            FROM {database}.annotation_withdrawn))
ORDER BY
    startsWith(author, 'passive:') OR startsWith(source, 'machine'),
    created_at DESC, written_at DESC, annotation_id DESC

--- judgments: how subjects were judged: which subjects
bitShiftLeft(toUInt256(NOT (startsWith(author, 'passive:')
        OR startsWith(source, 'machine'))), 255)
    + bitShiftLeft(toUInt256(toUnixTimestamp64Nano(created_at)), 192)
    + bitShiftLeft(toUInt256(toUnixTimestamp64Nano(written_at)), 128)
    + reinterpretAsUInt128(reverse(substring(annotation_id, 1, 16))) AS age,
outcomes AS
(
    {piece:newest|$1|outcome|['used', 'modified', 'rejected']}
),
flags AS
(
    {piece:newest|$1|training_flag|[1, -1]}
)

--- newest: how they were judged last: which subjects; kind and column; its values, by number
SELECT cityHash64(project, subject_id) + argMax(
    toUInt8(indexOf($3, annotation.$2)), age)
FROM {database}.annotation
WHERE $1 AND kind = '$2'
    {piece:not_withdrawn|$2}
GROUP BY cityHash64(project, subject_id)
SETTINGS final = 0

--- not_withdrawn: of a kind of judgments those that hold
AND ((SELECT count() FROM {database}.withdrawal) = 0
    OR (project, subject_kind, subject_id, annotation_id) NOT IN
    (SELECT project, subject_kind, subject_id, annotation_id
    FROM {database}.annotation_withdrawn WHERE kind = '$1'))

--- judged: how a row was judged, by `judgments`, and the scope of its messages
cityHash64(project, subject_id) AS judged_id,
multiIf(
    judged_id + 1 IN outcomes, 'used',
    judged_id + 2 IN outcomes, 'modified',
    judged_id + 3 IN outcomes, 'rejected',
    'pending') AS outcome,
multiIf(judged_id + 1 IN flags, 1, judged_id + 2 IN flags, -1, 0) AS training_flag,
if(session_id = '', trace_id, session_id) AS message_scope,

--- located: the columns of `Located` (rows/tables.py)
project LowCardinality(String) CODEC(ZSTD(1)),
service LowCardinality(String) CODEC(ZSTD(1)),
environment LowCardinality(String) CODEC(ZSTD(1)),
session_id String CODEC(ZSTD(3)),
turn_id String CODEC(ZSTD(3)),
trace_id String CODEC(ZSTD(3)),
span_id String CODEC(ZSTD(3)),
parent_span_id String CODEC(ZSTD(3)),

--- went: when a part of a run began, how it went, and who wrote that
started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),
duration Float64 CODEC(ZSTD(3)),
error_type LowCardinality(String) CODEC(ZSTD(1)),
error_message String CODEC(ZSTD(6)),
attributes Map(LowCardinality(String), String) CODEC(ZSTD(6)),
writer LowCardinality(String) CODEC(ZSTD(1)),
written_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(3)),

--- weekly: the settings of a table with parts for each week
SETTINGS
    non_replicated_deduplication_window = 10000,
    min_age_to_force_merge_seconds = 86400,
    min_age_to_force_merge_on_partition_only = 1

--- shape: a text without what differs from one time to the next: quoted parts, ids, addresses in memory, numbers
replaceRegexpAll(replaceRegexpAll(replaceRegexpAll($1,
    '\'[^\']{0,200}\'|"[^"]{0,200}"|`[^`]{0,200}`', '…'),
    {piece:unnumbered}

--- any_shape: as `shape`, with quoted parts of any length: an engine compiles the expression at each insert, and one that counts took 11 ms
replaceRegexpAll(replaceRegexpAll(replaceRegexpAll($1,
    '\'[^\']*\'|"[^"]*"|`[^`]*`', '…'),
    {piece:unnumbered}

--- unnumbered: the rest of both: without ids, addresses in memory and numbers
'\\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\\b', '#'),
'[0-9]+(?:[.,][0-9]+)*', '#')
