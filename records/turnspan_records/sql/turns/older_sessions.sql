HAVING (newest, session_id) < {_before}
