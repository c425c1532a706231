-- Each insert compiled the expression for quoted parts, which took nearly half of its time.
-- Rows of before keep their shape: another one only where more than 200 characters are quoted.
ALTER TABLE {table:tool_call} {on_cluster}
    MODIFY COLUMN IF EXISTS failure_shape String MATERIALIZED
        {piece:any_shape|failure}
        CODEC(ZSTD(3))
