SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 count(),
 sum(t.cost_usd),
 toUnixTimestamp(min(start_time)),
 toUnixTimestamp(max(start_time))
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64});

SELECT
 intDiv(toUnixTimestamp(start_time), {width:UInt32}) AS bin,
 count() AS turns,
 countIf(if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) NOT IN ('completed', 'running')) AS problems
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64})
GROUP BY bin;
