-- The next sessions with a turn that the filters let through, and what their first turn says of
-- its repository. Traces without a session are one each.
SELECT project, session_id, if(session_id = '', trace_id, '') AS trace,
    argMin(attributes, start_time) AS facts
FROM turn_summary AS t
WHERE (project, session_id, if(session_id = '', trace_id, ''))
        > ({after_project:String}, {after_session:String}, {after_trace:String})
    AND {of_project}
    AND ({session:String} = '' OR session_id = {session:String} OR trace_id = {session:String})
    AND (empty({agents:Array(String)}) OR agent_name IN {agents:Array(String)})
    AND (empty({versions:Array(String)}) OR agent_version IN {versions:Array(String)})
    AND (empty({models:Array(String)}) OR hasAny(models, {models:Array(String)}))
    AND (empty({stop_reasons:Array(String)}) OR stop_reason IN {stop_reasons:Array(String)}
        OR {how_ended} IN {stop_reasons:Array(String)})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    AND ({where}
    )
GROUP BY project, session_id, trace
ORDER BY project, session_id, trace
LIMIT {page:UInt32}
