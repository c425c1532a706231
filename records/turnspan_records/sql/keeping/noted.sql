SELECT reason FROM {work} WHERE pass = {pass:String} AND record = {record:String} LIMIT 1
