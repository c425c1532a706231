-- As 0047, of a tool's texts.
ALTER TABLE {table:tool_call} {on_cluster}
    ADD INDEX IF NOT EXISTS by_word
        lowerUTF8(concat(name, ' ', arguments, ' ', result, ' ', error_type, ' ', error_message))
        TYPE text(tokenizer = splitByNonAlpha, posting_list_codec = 'bitpacking'),
    MATERIALIZE INDEX by_word
