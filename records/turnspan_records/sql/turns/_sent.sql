SELECT project, if(session_id = '', trace_id, session_id) AS scope, span_id, hash, at
FROM llm_call_running
ARRAY JOIN input_messages AS hash, arrayEnumerate(input_messages) AS at
WHERE {_open}
