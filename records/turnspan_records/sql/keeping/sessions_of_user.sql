SELECT DISTINCT session_id FROM {table} WHERE {where} LIMIT {most}
