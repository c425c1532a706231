-- The turns of a queue.
SELECT project, session_id, trace_id, turn_id, start_time, ifNull(t.cost_usd, 0) AS cost
FROM turn_summary AS t
WHERE parent_turn_id = '' AND status IN ('final', 'interrupted')
    AND {of_project}
    AND ({agent:String} = '' OR agent_name = {agent:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    AND (NOT {odd:Bool} OR status != 'final' OR t.stop_reason != 'completed')
    AND (empty({reasons:Array(String)}) OR has({reasons:Array(String)},
        if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status)))
