SELECT {columns},
    leftUTF8(arguments, {cut}) AS arguments, leftUTF8(result, {cut}) AS result,
    length(tool_call.arguments) AS asked_bytes, length(tool_call.result) AS answered_bytes,
    sipHash64(name, tool_call.arguments) AS asked_digest,
    if(tool_call.result = '', tool_call.error_message, tool_call.result) AS answered,
    hex(sipHash64(translate(answered, ' \n\t', ''))) AS answered_digest,
    attributes['turnspan.coding.decision'] AS decision,
    attributes['turnspan.coding.decision.source'] AS decided_by
FROM tool_call WHERE {where} ORDER BY start_time, span_id
