SELECT rowid, created_at FROM artifact WHERE {condition} AND project = ? AND call_id = ''
