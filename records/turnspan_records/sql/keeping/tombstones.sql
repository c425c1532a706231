INSERT INTO {tombstone}
    (project, kind, key, until, forgetting_id, asked, reason, author, created_at, written_at)
WITH fromUnixTimestamp64Nano({until:Int64}, 'UTC') AS now
SELECT DISTINCT reason, substring(record, length({unit:String}) + 1), key, now,
    {forgetting:String}, false, '', '', now, now
FROM {work} WHERE pass = {pass:String} AND startsWith(record, {unit:String})
