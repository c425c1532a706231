SELECT name
FROM system.tables
WHERE database = {database:String};
