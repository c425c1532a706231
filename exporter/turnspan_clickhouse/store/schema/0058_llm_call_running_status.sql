-- Which rows are of calls that have not ended: nearly none, and every list of turns asks for them.
ALTER TABLE {table:llm_call_running} {on_cluster}
    ADD INDEX IF NOT EXISTS by_status status TYPE minmax GRANULARITY 1,
    MATERIALIZE INDEX by_status
