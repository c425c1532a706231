-- As 0061, of tools.
ALTER TABLE {table:tool_call} {on_cluster}
    MODIFY SETTING
    text_index_dictionary_block_size = 8192,
    text_index_dictionary_block_frontcoding_compression = 0
