-- The calls of consortium runs are few: granules without one are left out.
ALTER TABLE {table:llm_call} {on_cluster}
    ADD INDEX IF NOT EXISTS by_consortium consortium_id TYPE minmax GRANULARITY 1
