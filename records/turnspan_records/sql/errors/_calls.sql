-- How often each tool and each model was called, failed or not. Of calls without an answer, which
-- are few, it is looked up which model they count under.
SELECT 'tool' AS source, toString(name) AS name, count() AS calls
FROM tool_call WHERE {in_window} GROUP BY name
UNION ALL
SELECT 'model call', model, sum(times)
FROM
(
    SELECT toString(response_model) AS model, count() AS times
    FROM llm_call WHERE response_model != '' AND {in_window}
    GROUP BY response_model
    UNION ALL
    SELECT {model}, times
    FROM
    (
        SELECT project, request_model, '' AS response_model, toDateTime(day, 'UTC') AS start_time,
            times
        FROM
        (
            SELECT project, request_model, toDate(start_time) AS day, count() AS times
            FROM llm_call WHERE response_model = '' AND {in_window}
            GROUP BY project, request_model, day
        )
    )
)
GROUP BY model
