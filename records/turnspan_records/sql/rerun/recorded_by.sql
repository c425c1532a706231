-- The sessions of a rerun, and its answers: turns, else calls that are in none.
SELECT DISTINCT session_id, if(turn_id != '', turn_id, span_id) AS answer, min(start_time) AS began
FROM llm_call WHERE attributes['turnspan.rerun.id'] = {rerun:String}
GROUP BY session_id, answer ORDER BY began
