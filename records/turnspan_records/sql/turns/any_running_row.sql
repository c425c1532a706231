-- Whether any call has a row that is not its last: without one, none runs.
SELECT 1 FROM llm_call_running WHERE status != 'final' LIMIT 1
