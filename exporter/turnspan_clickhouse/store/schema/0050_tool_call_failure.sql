-- What a failed tool said, and its shape, when a row is written: a reader of all failures must not
-- read all results and compare their texts for that.
ALTER TABLE {table:tool_call} {on_cluster}
    ADD COLUMN IF NOT EXISTS failure String MATERIALIZED
        if(failed, leftUTF8(if(error_message != '', error_message, result), 400), '') CODEC(ZSTD(3)),
    ADD COLUMN IF NOT EXISTS failure_shape String MATERIALIZED
        {piece:shape|failure}
        CODEC(ZSTD(3))
