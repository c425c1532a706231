-- Turns that have rested count as interrupted. A row that was written meanwhile is newer than these.
INSERT INTO turn_summary ({names})
SELECT {values}
FROM (SELECT * FROM turn_summary FINAL WHERE session_id IN {sessions:Array(String)} AND {_rested})
