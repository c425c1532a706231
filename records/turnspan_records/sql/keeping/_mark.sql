INSERT INTO {work} (pass, record, week, reason, key) SELECT {pass:String}, {record:String}, toDate(0)
