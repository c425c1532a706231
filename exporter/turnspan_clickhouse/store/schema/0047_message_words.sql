-- The words of messages, so that a search skips those that do not have what is looked for. The
-- index says which rows have a word; a part of a word is looked for in the list of words.
ALTER TABLE {table:message} {on_cluster}
    ADD INDEX IF NOT EXISTS by_word lowerUTF8(parts)
        TYPE text(tokenizer = splitByNonAlpha, posting_list_codec = 'bitpacking'),
    MATERIALIZE INDEX by_word
