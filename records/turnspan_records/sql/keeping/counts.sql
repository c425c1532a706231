SELECT record, reason, count() FROM {work}
WHERE pass = {pass:String} GROUP BY record, reason ORDER BY record, reason
