-- title: Failing tools
-- question: Which tools fail, how often, and with what?
-- remedy: Look at one failure with `turnspan show SPAN`; let the tool's error show a correct call, so that the model can correct itself. `said_failures` did not raise: their result begins with "Error" or the like.
SELECT
    tool,
    failures,
    calls,
    failures / calls AS failure_rate,
    said_failures,
    turns,
    usual_error,
    leftUTF8(error_message, 240) AS last_error,
    last_time,
    span_id AS last_span
FROM
(
    SELECT name, start_time, if(failed, t.error_message, result) AS error_message, span_id
    FROM tool_call AS t
    WHERE (failed OR {says_failure})
        AND {chosen:start_time}
) AS failed_call
-- The tools on the right: only their last failures are read on the left, message and all.
ANY RIGHT JOIN
(
    SELECT
        name AS tool,
        countIf(failed) AS failures,
        countIf(NOT failed AND {says_failure}) AS said_failures,
        count() AS calls,
        uniqCombinedIf(turn_hash, failed) AS turns,
        topKIf(1)(error_type, failed AND error_type != '')[1] AS usual_error,
        if(failures > 0, maxIf(start_time, failed), maxIf(start_time, {says_failure})) AS last_time
    FROM tool_call
    WHERE {chosen:start_time}
    GROUP BY tool
    HAVING failures + said_failures > 0
    ORDER BY failures DESC, said_failures DESC, tool
    LIMIT {limit:UInt32}
) AS failing ON failed_call.name = failing.tool AND failed_call.start_time = failing.last_time
ORDER BY failures DESC, said_failures DESC, tool
