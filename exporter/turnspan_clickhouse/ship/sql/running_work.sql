SELECT count() FROM {table}
WHERE status = 'running' AND writer IN {writers:Array(String)}
