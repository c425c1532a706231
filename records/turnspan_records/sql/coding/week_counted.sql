-- title: What the agents counted
-- question: How long did people and agents work, how many lines, commits and pull requests came of it, and which tools were let run?
-- remedy: Send the agents' metrics and events to `turnspan receive`, else only tools that a person rejected are known. Open the session with the most time.
WITH turns AS
    (
        SELECT
            session_id,
            any(coalesce(nullIf(attributes['vcs.repository.name'], ''), toString(project))) AS repository,
            any(toString(agent_name)) AS agent
        FROM turn_summary
        WHERE parent_turn_id = ''
            AND session_id != ''
            AND {chosen:start_time}
        GROUP BY session_id
    ),
    counted AS
    (
        SELECT
            session_id,
            attributes['turnspan.coding.metric'] AS what,
            max(toFloat64OrZero(attributes['turnspan.coding.metric.value'])) AS value
        FROM span
        WHERE name = 'coding.metric'
            AND (session_id IN (SELECT session_id FROM turns) OR {project:String} IN ('', project))
            AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR start_time >= {since:DateTime64(9, 'UTC')})
            AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00' OR start_time < {until:DateTime64(9, 'UTC')})
        GROUP BY session_id, what, attributes['turnspan.coding.metric.series']
        UNION ALL
        SELECT
            session_id,
            if(
                attributes['turnspan.coding.decision'] = 'reject' OR error_type = 'rejected',
                'tools_rejected',
                'tools_accepted'
            ) AS what,
            1 AS value
        FROM tool_call
        WHERE (attributes['turnspan.coding.decision'] != '' OR error_type = 'rejected')
            AND {chosen:start_time}
    )
SELECT
    if(repository = '', 'not named', repository) AS repository,
    if(agent = '', 'not named', agent) AS agent,
    uniqExact(session_id) AS sessions,
    round(sumIf(value, what = 'user_seconds'), 1) AS user_seconds,
    round(sumIf(value, what = 'agent_seconds'), 1) AS agent_seconds,
    toUInt64(sumIf(value, what = 'lines_added')) AS lines_added,
    toUInt64(sumIf(value, what = 'lines_removed')) AS lines_removed,
    toUInt64(sumIf(value, what = 'commits')) AS commits,
    toUInt64(sumIf(value, what = 'pull_requests')) AS pull_requests,
    toUInt64(sumIf(value, what = 'edits_accepted')) AS edits_accepted,
    toUInt64(sumIf(value, what = 'edits_rejected')) AS edits_rejected,
    toUInt64(sumIf(value, what = 'tools_accepted')) AS tools_accepted,
    toUInt64(sumIf(value, what = 'tools_rejected')) AS tools_rejected,
    argMax(session_id, (endsWith(what, '_seconds') ? value : 0, session_id)) AS session
FROM counted
LEFT JOIN turns USING (session_id)
GROUP BY repository, agent
ORDER BY user_seconds + agent_seconds DESC, lines_added DESC, repository, agent
LIMIT {limit:UInt32}
