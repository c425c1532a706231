SELECT 1
FROM llm_call_running
WHERE status != 'final'
LIMIT 1;

SELECT
 if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS ended,
 count() AS turns
FROM turn_summary AS t
WHERE (t.parent_turn_id = '') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (start_time < {until:DateTime64(9, 'UTC')})
GROUP BY ended
ORDER BY
 ended = 'running' ASC,
 turns DESC,
 ended ASC;
