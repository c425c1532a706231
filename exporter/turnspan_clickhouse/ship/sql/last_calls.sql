LEFT JOIN
(
    SELECT project, {id}, max(addNanoseconds(start_time, toInt64(duration * 1e9))) AS last_end
    FROM llm_call
    WHERE {id} IN {dying:Array(String)} AND start_time >= {since:DateTime64(9, 'UTC')}
    GROUP BY project, {id}
) AS c USING (project, {id})
