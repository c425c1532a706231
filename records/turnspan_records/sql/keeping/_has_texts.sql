user_message != '' OR response_text != '' OR error_message != '' OR stop_detail != ''
