-- How often each tool and each model was called, failed or not.
SELECT 'tool' AS source, toString(name) AS name, count() AS calls
FROM tool_call WHERE {in_window} GROUP BY name
UNION ALL
SELECT 'model call', model, sum(times)
FROM
(
    SELECT {model} AS model, times
    FROM
    (
        SELECT one.1 AS project, one.2 AS request_model, one.3 AS response_model,
            one.4 AS start_time, one.5 AS times
        FROM (SELECT arrayJoin(used) AS one)
    )
)
GROUP BY model
