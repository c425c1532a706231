SELECT lower(hex(hash)) AS id, role, length(parts) AS bytes,
    position(parts, 'tool_call_response') > 0 AS answers
FROM message WHERE project = {project:String} AND scope = {scope:String}
    AND hash IN
    (
        SELECT arrayJoin(input_messages) FROM llm_call
        WHERE project = {project:String} AND span_id = {call:String}
    )
