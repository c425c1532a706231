-- title: Duplicate calls
-- question: Which calls were made again with the same prompt and the same configuration?
-- remedy: Compare their answers with `turnspan compare SPAN SPAN`. If the same answer is enough, cache it; if each try should differ, change the temperature or the seed; stop a loop that repeats itself.
SELECT
    calls,
    answers,
    sessions,
    attempts,
    model,
    cost_usd,
    cost_usd * (calls - 1) / calls AS again_usd,
    first_time,
    last_time,
    first_span,
    last_span
FROM
(
    SELECT
        cityHash64(project, input_messages, system_prompt, tool_definitions, request_model,
            request_parameters) AS asked,
        count() AS calls,
        uniqExact(cityHash64(output_messages)) AS answers,
        uniqExactIf(session_id, session_id != '') AS sessions,
        uniqExactIf(attempt_id, attempt_id != '') AS attempts,
        any(request_model) AS model,
        sum(c.cost_usd) AS cost_usd,
        min(start_time) AS first_time,
        max(start_time) AS last_time,
        argMin(span_id, start_time) AS first_span,
        argMax(span_id, start_time) AS last_span
    FROM llm_call AS c
    WHERE asked IN
        (
            SELECT
                cityHash64(project, input_messages, system_prompt, tool_definitions, request_model,
                    request_parameters) AS asked_often
            FROM llm_call
            WHERE notEmpty(input_messages)
                AND {chosen:start_time}
            GROUP BY asked_often
            HAVING count() > 1
            ORDER BY count() DESC
            LIMIT {limit:UInt32}
        )
        AND notEmpty(input_messages)
        AND {chosen:start_time}
    GROUP BY asked
)
ORDER BY calls DESC, cost_usd DESC, last_time DESC
LIMIT {limit:UInt32}
