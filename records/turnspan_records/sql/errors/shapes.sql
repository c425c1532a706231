-- Failures by the shape of their message, which is made when a row is written. First which shapes
-- they are; where the newest of each is, and what it said, is read for those few only.
WITH
    {_used} AS used,
    (
        SELECT groupArray(shape_of)
        FROM
        (
            SELECT (f.source, f.name, f.error, f.shape, times, turns, first, last, c.calls, {place})
                AS shape_of
            FROM
            (
                SELECT
                    source, name, error, shape,
                    count() AS times,
                    uniqExactIf(failure_turn, failure_turn != 0) AS turns,
                    toUnixTimestamp64Nano(min(start_time)) AS first,
                    toUnixTimestamp64Nano(max(start_time)) AS last
                FROM
                (
                    {failures}
                )
                GROUP BY source, name, error, shape
            ) AS f
            LEFT JOIN
            (
                {_calls}
            ) AS c ON c.source = f.source AND c.name = f.name
            WHERE {older}
            ORDER BY {order}
            LIMIT {limit:UInt32}
        )
    ) AS page
SELECT one.1 AS source, one.2 AS name, one.3 AS error, one.4 AS shape, one.5 AS times,
    one.6 AS turns, one.7 AS first, one.8 AS last, nullIf(one.9, 0) AS calls_of, one.10 AS place,
    n.newest AS newest
FROM
(
    SELECT arrayJoin(arrayZip(page, arrayEnumerate(page))) AS row, row.1 AS one, row.2 AS at
) AS p
INNER JOIN
(
    SELECT source, name, error, shape,
        argMax((project, session_id, turn_id, span_id, message), start_time) AS newest
    FROM
    (
        {newest}
    )
    GROUP BY source, name, error, shape
) AS n ON n.source = one.1 AND n.name = one.2 AND n.error = one.3 AND n.shape = one.4
ORDER BY at
