SELECT {id}, min(started_at) OVER () AS since
FROM {table}
WHERE status = 'running' AND writer IN {writers:Array(String)}
