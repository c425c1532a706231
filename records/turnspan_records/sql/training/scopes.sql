{begin}
SELECT project, {scope} AS scope, sum(length(input_messages)) AS inputs
FROM llm_call WHERE {listed} AND {_replied}
    AND (project, {scope}) > ({project:String}, {scope:String})
    AND {_only}
    AND start_time >= {since:DateTime64(9, 'UTC')}{judged}
GROUP BY project, scope ORDER BY project, scope LIMIT {page:UInt32}
