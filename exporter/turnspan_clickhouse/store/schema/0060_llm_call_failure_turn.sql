-- As 0059, of a model call.
ALTER TABLE {table:llm_call} {on_cluster}
    ADD COLUMN IF NOT EXISTS failure_turn UInt64 MATERIALIZED
        if(error_type != '' AND turn_id != '', cityHash64(project, turn_id), 0) CODEC(ZSTD(1))
