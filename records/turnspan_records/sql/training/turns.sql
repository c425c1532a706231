SELECT session_id, trace_id, turn_id, start_time, status, agent_name, agent_version, stop_reason,
    attempt_id, user_id
FROM turn_summary WHERE {_these}
ORDER BY start_time, turn_id
