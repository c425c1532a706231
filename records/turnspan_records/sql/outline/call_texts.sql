leftUTF8(response_text, {cut}) AS response_text,
leftUTF8(response_thoughts, {cut}) AS response_thoughts,
if(tool_calls = '', '', toJSONString(arrayMap(c -> CAST(
        (c.id, c.name, leftUTF8(c.arguments, {cut})),
        'Tuple(id String, name String, arguments String)'),
    JSONExtract(tool_calls, 'Array(Tuple(id String, name String, arguments String))'))))
    AS tool_calls,
cache_write_tokens, tokens_estimated, consortium_id,
length(sent.response_text) AS answered_bytes,
lower(hex(tool_definitions)) AS tools_hash,
