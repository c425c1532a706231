SELECT user_message AS asked, response_text AS text, t.stop_reason AS status, agent_name AS agent,
    agent_version AS version, '' AS parameters, [] AS models, start_time, t.duration AS duration
FROM turn_summary AS t WHERE project = {project:String} AND turn_id = {id:String}
