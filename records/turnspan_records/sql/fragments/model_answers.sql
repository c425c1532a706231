(SELECT
    (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
FROM
(
    SELECT
        concat(project, '\n', toString(request_model), '\n', if(by_day, toString(day), ''))
            AS asked,
        argMaxIf(toString(response_model), newest, response_model != '') AS answered
    FROM
    (
        SELECT project, request_model, response_model, toDate(start_time) AS day,
            max(start_time) AS newest
        FROM llm_call
        WHERE {of_project}
            AND start_time >= {since:DateTime64(9, 'UTC')} - INTERVAL 30 DAY
            AND start_time < {until:DateTime64(9, 'UTC')}
            AND request_model IN (SELECT request_model FROM llm_call WHERE response_model = '')
        GROUP BY project, request_model, response_model, day
    )
    ARRAY JOIN [true, false] AS by_day
    GROUP BY asked
    HAVING countIf(response_model = '') > 0 AND answered != ''
))
