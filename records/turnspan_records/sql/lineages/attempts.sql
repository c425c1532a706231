SELECT rollout_id, attempt_id, status, model, parameters, input, output, error_type,
    error_message, started_at, duration
FROM attempt WHERE {_of} ORDER BY started_at, attempt_id
