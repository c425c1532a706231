-- How often each tool and each model was called, failed or not.
SELECT 'tool', toString(name) AS of, count() FROM tool_call WHERE {in_window} GROUP BY of
UNION ALL
SELECT 'model call', {model} AS of, count()
FROM llm_call WHERE {in_window} GROUP BY of
