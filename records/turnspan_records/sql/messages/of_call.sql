SELECT if(session_id != '', session_id, trace_id) AS scope,
    arrayMap(h -> lower(hex(h)), input_messages) AS hashes
FROM llm_call WHERE project = {project:String} AND span_id = {span:String} LIMIT 1
