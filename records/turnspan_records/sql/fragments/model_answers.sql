-- Calls are grouped by a number: by three names and a day it takes four times as long.
(SELECT
    (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
FROM
(
    SELECT
        concat(of, '\n', toString(request), '\n', if(by_day, toString(toDate(newest)), ''))
            AS asked,
        argMaxIf(toString(answer), newest, answer != '') AS answered
    FROM
    (
        SELECT any(project) AS of, any(request_model) AS request, any(response_model) AS answer,
            max(start_time) AS newest
        FROM llm_call
        WHERE {of_project}
            AND start_time >= {since:DateTime64(9, 'UTC')} - INTERVAL 30 DAY
            AND start_time < {until:DateTime64(9, 'UTC')}
        GROUP BY cityHash64(project) + 3 * cityHash64(request_model)
            + 5 * cityHash64(response_model) + toUInt16(toDate(start_time))
    )
    ARRAY JOIN [true, false] AS by_day
    GROUP BY asked
    HAVING countIf(answer = '') > 0 AND answered != ''
))
