SELECT argMin(user_message, start_time) AS asked, argMax(response_text, start_time) AS text
FROM turn_summary
WHERE project = {project:String} AND attempt_id = {id:String} AND parent_turn_id = ''
    AND start_time >= {since:DateTime64(9, 'UTC')}
