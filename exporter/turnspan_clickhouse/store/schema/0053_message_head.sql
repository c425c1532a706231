-- How a message begins, for the outline of a session, which must not read and parse all texts: JSON
-- of its size in bytes, of what the spellings of a reply have in common (empty for other messages),
-- and of each part type, id, name, the first 301 characters of content, arguments and response,
-- and the digest of the response without white space. Elements of tuples go by their numbers: the
-- engine does not know names of them where it makes the column of a row of before.
ALTER TABLE {table:message} {on_cluster}
    ADD COLUMN IF NOT EXISTS head String MATERIALIZED toJSONString((
        toUInt32(length(parts)),
        if(role != 'assistant', '', hex(sipHash64(
            trimBoth(arrayStringConcat(arrayMap(p -> p.4, arrayFilter(p -> p.1 = 'text',
                JSONExtract(parts, 'Array(Tuple(type String, id String, name String,
                    content String, arguments String, response String))') AS found)), '\n\n')),
            arrayMap(p -> (p.2, p.3), arrayFilter(p -> p.1 = 'tool_call', found))))),
        if(empty(found) AND parts NOT IN ('', '[]'),
            [('text', '', '', leftUTF8(parts, 301), '', '', '')],
            arrayMap((p, answer) -> (p.1, p.2, p.3, leftUTF8(p.4, 301),
                    leftUTF8(p.5, 301), leftUTF8(answer, 301),
                    if(p.1 = 'tool_call_response',
                        hex(sipHash64(translate(answer, ' \n\t', ''))), '')),
                found,
                arrayMap((p, blocks) -> if(
                        NOT empty(blocks) AND arrayAll(block -> block.1 = 'text', blocks),
                        arrayStringConcat(blocks.2, '\n'), p.6),
                    found,
                    arrayMap(p -> JSONExtract(if(startsWith(p.6, '[{'), p.6, ''),
                        'Array(Tuple(type String, text String))'), found))))))
        CODEC(ZSTD(6)),
    MATERIALIZE COLUMN head
