SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 look,
 count() AS turns,
 topK(1)(agent_name)[1] AS agent
FROM turn_summary AS t
ARRAY JOIN arrayFilter(one -> (one != ''), [if((t.rounds < 3) AND (t.status != 'running') AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) != 'completed'), 'early', ''), if((greatest(t.max_identical_tool_streak, t.no_progress_rounds) >= 3) OR startsWith(t.stop_reason, 'loop_detected:'), 'loops', ''), if((t.status = 'final') AND ((t.stop_reason IN ('silent_rounds', 'empty_no_tools')) OR (t.silent_rounds >= 30) OR ((t.stop_reason = 'completed') AND t.unanswered)), 'silent', ''), if(t.status = 'interrupted', 'interrupted', ''), if(t.status = 'running', 'running', '')]) AS look
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')}) AND (if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) IN ({f0:Array(String)})) AND (NOT (agent_name IN ({f1:Array(String)}))) AND (t.rounds > {f2:Float64})
GROUP BY look
ORDER BY
 turns DESC,
 look ASC;
