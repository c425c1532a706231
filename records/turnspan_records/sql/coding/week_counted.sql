-- title: What the agents counted
-- question: How long did people and agents work, how many lines, commits and pull requests came of it, and which tools were let run?
-- remedy: Send the agents' metrics and events to `turnspan receive`, else only tools that a person rejected are known. Each row names the session with the most.
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
    facts AS
    (
        SELECT
            session_id,
            attributes['turnspan.coding.metric'] AS what,
            max(toFloat64OrZero(attributes['turnspan.coding.metric.value'])) AS value
        FROM span
        PREWHERE name = 'coding.metric'
        WHERE (session_id IN (SELECT session_id FROM turns) OR {project:String} IN ('', project))
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
    replaceAll(what, '_', ' ') AS counted,
    if(repository = '', 'not named', repository) AS repository,
    if(agent = '', 'not named', agent) AS agent,
    round(sum(value), 1) AS amount,
    uniqExact(session_id) AS sessions,
    argMax(session_id, (value, session_id)) AS session
FROM facts
LEFT JOIN turns USING (session_id)
GROUP BY what, repository, agent
ORDER BY
    endsWith(what, '_seconds') DESC,
    position(what, 'lines_') > 0 DESC,
    what, amount DESC, repository, agent
LIMIT {limit:UInt32} BY what
