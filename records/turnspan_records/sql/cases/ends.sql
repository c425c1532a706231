SELECT attempt_id, argMax(stop_reason, start_time) AS stop_reason
FROM turn_summary
WHERE project = {project:String} AND lineage_id = {lineage:String} AND parent_turn_id = ''
    AND attempt_id IN {ids:Array(String)} AND start_time >= {since:DateTime64(9, 'UTC')}
GROUP BY attempt_id
