SELECT table, name, type, comment
FROM system.columns
WHERE database = {database:String} AND NOT endsWith(table, '_local')
ORDER BY table, position
