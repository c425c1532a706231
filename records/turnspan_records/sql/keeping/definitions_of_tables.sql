SELECT name, create_table_query FROM system.tables
WHERE database = {database:String} AND name IN {tables:Array(String)}
