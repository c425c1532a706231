INSERT INTO {work} (pass, record, reason) SELECT {pass:String}, {record:String}, {reason:String}
