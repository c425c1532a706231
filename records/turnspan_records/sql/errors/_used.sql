-- Which models were called when, failed or not: one look at all calls of the window, and of the
-- month before it for what an alias meant (fragments/model). Calls are grouped by a number: by
-- three names and a day it takes twice as long.
(
    SELECT groupArray((of, request, answer, newest, times))
    FROM
    (
        SELECT toString(any(project)) AS of, toString(any(request_model)) AS request,
            toString(any(response_model)) AS answer, max(start_time) AS newest,
            countIf({in_window}) AS times
        FROM llm_call
        WHERE {of_project}
            AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00'
                OR start_time >= {since:DateTime64(9, 'UTC')} - INTERVAL 30 DAY)
            AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00'
                OR start_time < {until:DateTime64(9, 'UTC')})
        GROUP BY cityHash64(project) + 3 * cityHash64(request_model)
            + 5 * cityHash64(response_model) + toUInt16(toDate(start_time))
    )
)
