SELECT '' AS asked, response_text AS text, arrayStringConcat(finish_reasons, ', ') AS status,
    agent_name AS agent, agent_version AS version, request_parameters AS parameters, [] AS models,
    start_time, c.duration AS duration, input_messages AS inputs, session_id, trace_id
FROM llm_call AS c WHERE project = {project:String} AND span_id = {id:String}
