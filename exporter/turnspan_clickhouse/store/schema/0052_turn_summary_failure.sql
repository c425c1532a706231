-- As 0050, of a turn.
ALTER TABLE {table:turn_summary} {on_cluster}
    ADD COLUMN IF NOT EXISTS failure_shape String MATERIALIZED
        {piece:shape|if(error_type != '', leftUTF8(error_message, 400), '')}
        CODEC(ZSTD(3))
