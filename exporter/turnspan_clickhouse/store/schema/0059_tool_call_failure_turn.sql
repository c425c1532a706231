-- A number of the turn in which a tool failed, 0 of other rows: in how many turns it fails is counted
-- without reading the turns of all.
ALTER TABLE {table:tool_call} {on_cluster}
    ADD COLUMN IF NOT EXISTS failure_turn UInt64 MATERIALIZED
        if(failed AND turn_id != '', cityHash64(project, turn_id), 0) CODEC(ZSTD(1))
