SELECT DISTINCT record FROM {work} WHERE pass = {pass:String} AND startsWith(record, {unit:String})
