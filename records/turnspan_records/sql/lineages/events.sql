SELECT lineage_id, kind, text, author, created_at FROM lineage_event WHERE {_of}
ORDER BY created_at, event_id
