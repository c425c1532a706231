-- Asked at every landing: rows that a later one has replaced may be among these, and merging all
-- would read the whole table.
SELECT DISTINCT session_id FROM turn_summary WHERE {_rested}
