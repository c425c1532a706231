-- The turns that ran tools by which files are changed, with what they cost without nested turns.
SELECT project, turn_id, session_id, toUnixTimestamp64Nano(t.start_time) AS started,
    if(attributes['turnspan.coding.tool'] != '', attributes['turnspan.coding.tool'],
        toString(agent_name)) AS agent,
    models, if(task_type != '', task_type, turn_intent) AS task,
    t.cost_usd - ifNull(nested.cost, 0) AS cost_usd,
    leftUTF8(user_message, 400) AS prompt, toString(judged.outcome) AS outcome,
    attributes['process.working_directory'] AS folder,
    attributes['vcs.repository.url.full'] AS address,
    attributes['vcs.ref.head.revision'] AS revision, attributes['vcs.ref.head.name'] AS branch
FROM turn_summary AS t
LEFT ANY JOIN
    (SELECT project, parent_turn_id AS turn_id, sum(cost_usd) AS cost FROM turn_summary
    WHERE parent_turn_id != '' GROUP BY project, turn_id) AS nested USING (project, turn_id)
LEFT ANY JOIN
    (SELECT project, subject_id AS turn_id, outcome FROM annotation_current
    WHERE subject_kind = 'turn' AND kind = 'outcome') AS judged USING (project, turn_id)
WHERE {of_project} AND (project, turn_id) IN
    (SELECT project, turn_id FROM tool_call
    WHERE {of_project} AND turn_id != '' AND {changes_files})
ORDER BY started, turn_id
