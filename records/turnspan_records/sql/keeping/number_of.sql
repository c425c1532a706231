SELECT uniqExact(key) FROM {work} WHERE pass = {pass:String} AND record = {record:String}
