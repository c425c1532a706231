-- title: Failing tools
-- question: Which tools fail, how often, and with what?
-- remedy: Look at one failure with `turnspan show SPAN`; make the tool's error say what a right call looks like, so that the model can correct itself.
SELECT
    name AS tool,
    countIf(failed) AS failures,
    count() AS calls,
    failures / calls AS failure_rate,
    uniqIf(turn_id, failed) AS turns,
    topKIf(1)(error_type, failed AND error_type != '')[1] AS usual_error,
    leftUTF8(argMaxIf(error_message, start_time, failed), 240) AS last_error,
    maxIf(start_time, failed) AS last_time,
    argMaxIf(span_id, start_time, failed) AS last_span
FROM tool_call
WHERE ({project:String} = '' OR project = {project:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
GROUP BY tool
HAVING failures > 0
ORDER BY failures DESC, tool
LIMIT {limit:UInt32}
