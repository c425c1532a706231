-- A turn that its transcript left running and that has not changed since a time.
status = 'running' AND startsWith(scope_name, 'turnspan.import.')
    AND toUnixTimestamp64Nano(written_at) < {before:Int64}
