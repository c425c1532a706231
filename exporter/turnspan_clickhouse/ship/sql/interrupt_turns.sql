INSERT INTO turn_summary ({names})
SELECT {values}
FROM
(
    SELECT * FROM turn_summary FINAL
    WHERE status = 'running' AND writer IN {writers:Array(String)}
        AND turn_id IN {roots:Array(String)}
) AS s
LEFT JOIN
(
    -- Rounds and calls are the turn's own; tokens, cost, models and the end take nested turns in.
    SELECT
        root,
        greatest(max(ended), toDateTime64(0, 9, 'UTC')) AS last_end,
        toUInt32(if(maxIf(round, own) > 0, uniqExactIf(round, own), countIf(own))) AS rounds,
        toUInt32(countIf(own)) AS llm_call_count,
        sum(input_tokens) AS input_tokens,
        sum(output_tokens) AS output_tokens,
        sum(cache_read_tokens) AS cache_read_tokens,
        sum(cache_write_tokens) AS cache_write_tokens,
        sum(reasoning_tokens) AS reasoning_tokens,
        sum(cost_usd) AS cost_usd,
        arraySort(groupUniqArrayIf(model, model != '')) AS models,
        argMaxIf(response_text, start_time, own) AS response_text
    FROM
    (
        SELECT
            kin.1 AS root,
            kin.1 = turn_id AS own,
            start_time,
            addNanoseconds(start_time, toInt64(duration * 1e9)) AS ended,
            round, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
            reasoning_tokens, cost_usd, response_text,
            toString(if(response_model = '', request_model, response_model)) AS model
        FROM llm_call
        ARRAY JOIN arrayFilter(pair -> pair.2 = turn_id,
            arrayZip({roots:Array(String)}, {members:Array(String)})) AS kin
        WHERE turn_id IN {members:Array(String)}
    )
    GROUP BY root
) AS c ON c.root = s.turn_id
LEFT JOIN
(
    SELECT
        turn_id AS root,
        max(addNanoseconds(start_time, toInt64(duration * 1e9))) AS last_end,
        toUInt32(count()) AS tool_call_count,
        toUInt32(countIf(failed)) AS tool_error_count
    FROM tool_call
    WHERE turn_id IN {roots:Array(String)}
    GROUP BY turn_id
) AS t ON t.root = s.turn_id
