-- A word that no message has is looked for in each part's list of words, which one thread reads. Parts
-- of two million messages are read beside each other; one of all of them takes as long as its list.
ALTER TABLE {table:message} {on_cluster}
    MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 536870912
