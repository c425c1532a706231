INSERT INTO {work} (pass, record, week, reason, key)
SELECT DISTINCT {pass:String}, one.1, toDate(0), project, one.2
FROM ({keys}) WHERE one.2 != toFixedString('', 16)
