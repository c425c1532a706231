SELECT count() FROM {table} WHERE {_only}
