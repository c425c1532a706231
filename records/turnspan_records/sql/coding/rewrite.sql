-- Rows again, with other values. A row that was written meanwhile is newer than these.
INSERT INTO {table} ({names})
SELECT {values}
FROM (SELECT *, indexOf({ids:Array(String)}, {key}) AS place FROM {table} FINAL
    WHERE session_id IN {sessions:Array(String)} AND {key} IN {ids:Array(String)})
