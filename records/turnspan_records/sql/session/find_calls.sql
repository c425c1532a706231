SELECT span_id FROM llm_call WHERE {where}
    AND (positionCaseInsensitiveUTF8(response_text, {text:String}) > 0
        OR positionCaseInsensitiveUTF8(error_message, {text:String}) > 0)
