-- As 0047, of a turn's texts.
ALTER TABLE {table:turn_summary} {on_cluster}
    ADD INDEX IF NOT EXISTS by_word
        lowerUTF8(concat(user_message, ' ', response_text, ' ', stop_reason, ' ', stop_detail, ' ',
            error_type, ' ', error_message))
        TYPE text(tokenizer = splitByNonAlpha, posting_list_codec = 'bitpacking'),
    MATERIALIZE INDEX by_word
