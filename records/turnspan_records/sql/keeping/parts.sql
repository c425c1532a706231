SELECT table, count() FROM {parts}
WHERE database = {database:String} AND table IN {tables:Array(String)} AND {where}
GROUP BY table ORDER BY table
