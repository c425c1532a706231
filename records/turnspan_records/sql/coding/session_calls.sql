SELECT span_id, turn_id FROM llm_call WHERE session_id = {session:String}
