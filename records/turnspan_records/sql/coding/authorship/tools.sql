SELECT project, turn_id, call_id, toString(name) AS name, arguments, model,
    toUnixTimestamp64Nano(start_time) + toInt64(duration * 1e9) AS time
FROM tool_call
LEFT ANY JOIN
    (SELECT project, turn_id, round,
        any(if(response_model != '', toString(response_model), toString(request_model))) AS model
    FROM llm_call WHERE turn_id IN {turns:Array(String)}
    GROUP BY project, turn_id, round) AS asking USING (project, turn_id, round)
WHERE turn_id IN {turns:Array(String)} AND {changes_files}
ORDER BY time, span_id
