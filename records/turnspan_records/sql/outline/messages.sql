WITH
    JSONExtract(parts, 'Array(Tuple(type String, id String, name String, content String,
        arguments String, response String))') AS found,
    arrayStringConcat(arrayMap(p -> p.content, arrayFilter(p -> p.type = 'text', found)), '\n\n')
        AS said,
    arrayMap(p -> (p.id, p.name), arrayFilter(p -> p.type = 'tool_call', found)) AS asked,
    arrayMap(p -> JSONExtract(if(startsWith(p.response, '[{'), p.response, ''),
        'Array(Tuple(type String, text String))'), found) AS blocks,
    arrayMap((p, of) -> if(NOT empty(of) AND arrayAll(block -> block.1 = 'text', of),
        arrayStringConcat(of.2, '\n'), p.response), found, blocks) AS responses
SELECT lower(hex(hash)) AS id, role, name, length(parts) AS size, dialect,
    if(role = 'assistant',
        concat('gist ', hex(sipHash128(trimBoth(said), asked))), lower(hex(hash))) AS gist,
    if(empty(found) AND parts != '' AND parts != '[]', [('text', '', '', leftUTF8(parts, {cut}),
            '', '', toUInt64(0))],
        arrayMap((p, answer) -> (p.type, p.id, p.name, leftUTF8(p.content, {cut}),
            leftUTF8(p.arguments, {cut}), leftUTF8(answer, {cut}),
            if(p.type = 'tool_call_response', sipHash64(translate(answer, ' \n\t', '')), 0)),
        found, responses)) AS heads
FROM message
WHERE project = {project:String} AND scope = {scope:String}
