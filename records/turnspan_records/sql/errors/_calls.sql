-- How often each tool and each model was called, failed or not.
SELECT 'tool' AS source, toString(name) AS name, count() AS calls
FROM tool_call WHERE {in_window} GROUP BY name
UNION ALL
SELECT 'model call', {model} AS model, count()
FROM llm_call WHERE {in_window} GROUP BY model
