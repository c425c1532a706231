-- How often each tool and each model was called, failed or not. Calls are counted before it is
-- looked up which model they count under.
SELECT 'tool' AS source, toString(name) AS name, count() AS calls
FROM tool_call WHERE {in_window} GROUP BY name
UNION ALL
SELECT 'model call', {model} AS model, sum(times)
FROM
(
    SELECT project, request_model, response_model, toDateTime(day, 'UTC') AS start_time, times
    FROM
    (
        SELECT project, request_model, response_model, toDate(start_time) AS day, count() AS times
        FROM llm_call WHERE {in_window}
        GROUP BY project, request_model, response_model, day
    )
)
GROUP BY model
