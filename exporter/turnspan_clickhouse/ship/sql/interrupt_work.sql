INSERT INTO {table} ({names})
SELECT {values}
FROM
(
    SELECT * FROM {table} FINAL
    WHERE status = 'running' AND writer IN {writers:Array(String)}
) AS s
{ended}
