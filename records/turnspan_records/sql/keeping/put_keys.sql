INSERT INTO {work} (pass, record, week, reason, key)
SELECT DISTINCT {pass:String}, concat({unit:String}, one.1), toDate(0), project, {one_key}
FROM (SELECT project, arrayJoin(value) AS one {found})
WHERE one.2 != ''
