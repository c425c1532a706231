SELECT turn_id FROM turn_summary WHERE {where}
    AND (positionCaseInsensitiveUTF8(user_message, {text:String}) > 0
        OR positionCaseInsensitiveUTF8(response_text, {text:String}) > 0
        OR positionCaseInsensitiveUTF8(stop_detail, {text:String}) > 0)
