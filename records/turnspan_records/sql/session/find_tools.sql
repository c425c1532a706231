SELECT span_id FROM tool_call WHERE {where}
    AND (positionCaseInsensitiveUTF8(name, {text:String}) > 0
        OR positionCaseInsensitiveUTF8(arguments, {text:String}) > 0
        OR positionCaseInsensitiveUTF8(result, {text:String}) > 0
        OR positionCaseInsensitiveUTF8(error_message, {text:String}) > 0)
