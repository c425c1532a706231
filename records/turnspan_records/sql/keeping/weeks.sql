SELECT record, toString(week), count() FROM {work}
WHERE pass = {pass:String} AND ({reason:String} = '' OR reason = {reason:String})
GROUP BY record, week ORDER BY record, week
