SELECT substringUTF8({field}, {start:Int64} + 1, {longest:Int64}) AS text,
    lengthUTF8({field}) AS total
FROM tool_call WHERE project = {project:String} AND span_id = {span:String} LIMIT 1
