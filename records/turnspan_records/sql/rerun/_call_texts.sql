lower(hex(tool_definitions)) AS tools_hash,
    attributes['turnspan.response.details'] AS details,
