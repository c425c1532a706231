-- One row per turn with what its own model calls and tools say about it together: the last call's
-- provider, model, prompt and thoughts, and every tool call and tool result in order.
-- The turns are on the right of the joins for the reasons given in llm_call_full; the newest row of
-- each call and tool is found by argMax, because FINAL would read all texts before the filter.
CREATE OR REPLACE VIEW {database}.turn_full {on_cluster} AS
SELECT
    * EXCEPT (
        p_project, p_hash, p_body, a_project, a_hash, a_body, system_prompt_hash,
        context_assembled_hash, c_project, c_session_id, c_turn_id, asked,
        r_project, r_session_id, r_turn_id, results),
    p_body AS system_prompt,
    a_body AS context_assembled,
    concat('[', arrayStringConcat(
        arrayFlatten(arrayMap(call -> JSONExtractArrayRaw(call.3), arraySort(asked))), ','), ']')
        AS tool_calls,
    concat('[', arrayStringConcat(arrayMap(result -> result.3, arraySort(results)), ','), ']')
        AS tool_results
FROM
(
    SELECT *
    FROM
    (
        SELECT project AS p_project, hash AS p_hash, any(body) AS p_body
        FROM {database}.definition
        GROUP BY project, hash
        SETTINGS final = 0, optimize_aggregation_in_order = 1
    ) AS p
    ANY RIGHT JOIN
    (
        SELECT *
        FROM
        (
            SELECT project AS a_project, hash AS a_hash, any(body) AS a_body
            FROM {database}.definition
            GROUP BY project, hash
            SETTINGS final = 0, optimize_aggregation_in_order = 1
        ) AS a
        ANY RIGHT JOIN
        (
            SELECT *
            FROM
            (
                SELECT r_project, r_session_id, r_turn_id,
                    groupArray((start_time, span_id, newest)) AS results
                FROM
                (
                    SELECT
                        project AS r_project,
                        session_id AS r_session_id,
                        turn_id AS r_turn_id,
                        start_time,
                        span_id,
                        argMax(concat(
                            '{"call_id":', toJSONString(call_id), ',"name":', toJSONString(name),
                            ',"result":', toJSONString(result),
                            ',"failed":', if(failed, 'true', 'false'), '}'), written_at) AS newest
                    FROM {database}.tool_call
                    GROUP BY project, session_id, turn_id, start_time, span_id
                    SETTINGS final = 0
                )
                GROUP BY r_project, r_session_id, r_turn_id
            ) AS r
            ANY RIGHT JOIN
            (
                SELECT *
                FROM
                (
                    SELECT
                        c_project,
                        c_session_id,
                        c_turn_id,
                        argMax(newest.1, (start_time, span_id)) AS provider,
                        argMax(newest.2, (start_time, span_id)) AS model,
                        argMax(newest.3, (start_time, span_id)) AS system_prompt_hash,
                        argMaxIf(newest.4, (start_time, span_id),
                            newest.4 != toFixedString('', 16)) AS context_assembled_hash,
                        argMax(newest.5, (start_time, span_id)) AS response_thoughts,
                        groupArrayIf((start_time, span_id, newest.6), newest.6 != '') AS asked
                    FROM
                    (
                        SELECT
                            project AS c_project,
                            session_id AS c_session_id,
                            turn_id AS c_turn_id,
                            start_time,
                            span_id,
                            argMax((
                                provider,
                                if(response_model = '', request_model, response_model),
                                system_prompt,
                                context_assembled,
                                response_thoughts,
                                tool_calls), written_at) AS newest
                        FROM {database}.llm_call
                        GROUP BY project, session_id, turn_id, start_time, span_id
                        SETTINGS final = 0
                    )
                    GROUP BY c_project, c_session_id, c_turn_id
                ) AS c
                ANY RIGHT JOIN
                (
                    SELECT *
                    FROM {database}.turn_summary FINAL
                    SETTINGS do_not_merge_across_partitions_select_final = 1
                ) AS s ON c_project = project AND c_session_id = session_id AND c_turn_id = turn_id
            ) AS s ON r_project = project AND r_session_id = session_id AND r_turn_id = turn_id
        ) AS s ON a_project = project AND a_hash = context_assembled_hash
    ) AS s ON p_project = project AND p_hash = system_prompt_hash
)
