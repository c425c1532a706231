SELECT create_table_query FROM system.tables
WHERE database = {database:String} AND name = {table:String}
