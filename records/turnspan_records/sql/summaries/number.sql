SELECT uniqExact(project, session_id) FROM turn_summary WHERE {_chosen}
