-- Drawn from all that match, judged or not: whoever goes on later has the same sample.
SELECT * FROM ({_matching})
ORDER BY cityHash64({seed:UInt64}, turn_id), turn_id LIMIT {sample:UInt32}
