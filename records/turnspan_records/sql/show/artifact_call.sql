-- Said after a call and not inside it, it is taken to be of the turn's last call before it.
SELECT argMax(span_id, start_time) AS call FROM llm_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
    AND start_time <= {created:DateTime64(9, 'UTC')}
