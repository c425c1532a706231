INSERT INTO {work} (pass, record, week, reason, key)
SELECT {pass:String}, {record:String}, {week}, {reason}, {key} FROM {source} WHERE {where}
