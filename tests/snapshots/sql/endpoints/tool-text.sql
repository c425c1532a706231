SELECT
 substringUTF8(result, {start:Int64} + 1, {longest:Int64}) AS text,
 lengthUTF8(result) AS total
FROM tool_call
WHERE (project = {project:String}) AND (span_id = {span:String})
LIMIT 1;
