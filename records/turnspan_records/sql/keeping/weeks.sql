SELECT toString(week), count() FROM {work}
WHERE pass = {pass:String} AND record = {record:String}
    AND ({reason:String} = '' OR reason = {reason:String})
GROUP BY week ORDER BY week
