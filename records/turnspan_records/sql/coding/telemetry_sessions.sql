-- The sessions of which telemetry, or a call of a transcript that has telemetry, was written after a time.
SELECT DISTINCT session_id FROM span
WHERE scope_name IN {scopes:Array(String)} AND session_id != '' AND mapContains(attributes, {mark:String})
    AND (toUnixTimestamp64Nano(written_at) > {since:Int64} OR session_id IN (
        SELECT session_id FROM llm_call
        WHERE toUnixTimestamp64Nano(written_at) > {since:Int64} AND startsWith(scope_name, 'turnspan.import.')
    ))
