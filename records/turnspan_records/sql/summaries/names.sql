-- A page of the window's sessions, after the last one. The window says which sessions, not which of
-- their turns: a summary is of the whole session.
SELECT project, session_id FROM turn_summary
WHERE (project, session_id) > ({after_project:String}, {after:String}) AND {_chosen}
GROUP BY project, session_id
ORDER BY project, session_id
LIMIT {limit:UInt32}
