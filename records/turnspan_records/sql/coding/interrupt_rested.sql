-- Turns that transcripts left running and that have not changed since a time count as interrupted.
-- A row that was written meanwhile is newer than these.
INSERT INTO turn_summary ({names})
SELECT {values}
FROM (SELECT * FROM turn_summary FINAL
    WHERE status = 'running' AND startsWith(scope_name, 'turnspan.import.')
        AND toUnixTimestamp64Nano(written_at) < {before:Int64})
