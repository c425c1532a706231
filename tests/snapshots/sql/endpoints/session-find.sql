SELECT lower(hex(hash)) AS id
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String}) AND (positionCaseInsensitiveUTF8(parts, {written:String}) > 0);

SELECT turn_id
FROM turn_summary
WHERE (project = {project:String}) AND (session_id = {session:String}) AND ((positionCaseInsensitiveUTF8(user_message, {text:String}) > 0) OR (positionCaseInsensitiveUTF8(response_text, {text:String}) > 0) OR (positionCaseInsensitiveUTF8(stop_detail, {text:String}) > 0));

SELECT span_id
FROM llm_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND ((positionCaseInsensitiveUTF8(response_text, {text:String}) > 0) OR (positionCaseInsensitiveUTF8(error_message, {text:String}) > 0));

SELECT span_id
FROM tool_call
WHERE (project = {project:String}) AND (session_id = {session:String}) AND ((positionCaseInsensitiveUTF8(name, {text:String}) > 0) OR (positionCaseInsensitiveUTF8(arguments, {text:String}) > 0) OR (positionCaseInsensitiveUTF8(result, {text:String}) > 0) OR (positionCaseInsensitiveUTF8(error_message, {text:String}) > 0));
