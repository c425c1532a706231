(SELECT
    (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
FROM
(
    SELECT
        concat(project, '\n', toString(request_model), '\n',
            if(by_day, toString(toDate(start_time)), '')) AS asked,
        argMaxIf(toString(response_model), start_time, response_model != '') AS answered
    FROM llm_call ARRAY JOIN [true, false] AS by_day
    WHERE {of_project}
        AND start_time >= {since:DateTime64(9, 'UTC')} - INTERVAL 30 DAY
        AND start_time < {until:DateTime64(9, 'UTC')}
    GROUP BY asked
    HAVING countIf(response_model = '') > 0 AND answered != ''
))
