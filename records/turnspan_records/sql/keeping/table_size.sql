SELECT sum(data_uncompressed_bytes), sum(rows) FROM system.parts
WHERE active AND database = {database:String} AND table = {table:String}
