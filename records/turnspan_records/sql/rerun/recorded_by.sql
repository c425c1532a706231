-- The sessions of a rerun, and its answers: turns, else calls that are in none.
SELECT session_id, if(turn_id != '', turn_id, span_id) AS answer, min(start_time) AS began
FROM llm_call
WHERE start_time >= {since:DateTime64(9, 'UTC')} AND attributes['turnspan.rerun.id'] = {rerun:String}
GROUP BY session_id, answer ORDER BY began
