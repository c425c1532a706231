SELECT assembly_id AS id, project, service, environment, session_id, turn_id,
    trace_id, start_time, duration, status, agent_name, task_type, entities, budget, used,
    used_estimated, considered, kept, dropped, bypassed, bypass_reason, error_type,
    lower(hex(context_hash)) AS context_hash, step_names, step_durations, step_errors
FROM context_assembly
