SELECT project, turn_id, session_id, trace_id FROM ({source})
WHERE {_left} ORDER BY {order} LIMIT {limit:UInt32}
