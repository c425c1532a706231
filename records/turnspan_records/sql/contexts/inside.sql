{_columns}
WHERE {_place}
ORDER BY start_time, id
