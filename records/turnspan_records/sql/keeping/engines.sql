SELECT name, engine_full FROM system.tables
WHERE database = {database:String} AND name IN {names:Array(String)}
