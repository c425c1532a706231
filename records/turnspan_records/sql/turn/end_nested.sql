SELECT turn_id, agent_name, if(t.status = 'final', t.stop_reason, t.status) AS stop_reason,
    stop_detail
FROM turn_summary AS t
WHERE project = {project:String} AND session_id = {session:String}
    AND parent_turn_id = {turn:String}
ORDER BY start_time DESC, turn_id LIMIT {limit:UInt32}
