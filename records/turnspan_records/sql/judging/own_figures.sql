SELECT kind, outcome, flag, count() AS number, avg(score) FROM ({_own}) WHERE {_of_queue}
GROUP BY kind, outcome, flag ORDER BY kind, outcome, flag
