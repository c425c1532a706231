SELECT count()
FROM system.databases
WHERE name = {name:String};

SELECT name
FROM system.tables
WHERE database = {database:String};
