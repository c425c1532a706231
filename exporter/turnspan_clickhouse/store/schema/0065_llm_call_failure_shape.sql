-- As 0064, of a model call.
ALTER TABLE {table:llm_call} {on_cluster}
    MODIFY COLUMN IF EXISTS failure_shape String MATERIALIZED
        {piece:any_shape|if(error_type != '', leftUTF8(error_message, 400), '')}
        CODEC(ZSTD(3))
