-- title: Where the time and the money went
-- question: Which repositories, agents, models and kinds of tasks took how long and cost how much?
-- remedy: Open the turn that cost most. A model's seconds are those of its calls, all others are those of root turns. A cost that no record states is not in the sum.
WITH turns AS
    (
        SELECT *,
            coalesce(nullIf(attributes['vcs.repository.name'], ''), toString(project)) AS repository,
            coalesce(nullIf(toString(task_type), ''), toString(turn_intent)) AS task
        FROM turn_summary
        WHERE parent_turn_id = ''
            AND {chosen:start_time}
    )
SELECT
    by,
    name,
    turns,
    took_seconds,
    cost_usd,
    round(toFloat64(cost_usd) / nullIf(sum(toFloat64(cost_usd)) OVER (PARTITION BY by), 0), 4) AS cost_share,
    turn
FROM
(
    SELECT
        dimension.1 AS by,
        if(dimension.2 = '', 'not named', dimension.2) AS name,
        uniqExact(turn_id) AS turns,
        round(sum(duration), 3) AS took_seconds,
        sum(t.cost_usd) AS cost_usd,
        argMax(turn_id, (ifNull(t.cost_usd, 0), turn_id)) AS turn
    FROM turns AS t
    ARRAY JOIN [('repository', repository), ('agent', toString(agent_name)), ('task', task)] AS dimension
    GROUP BY by, name
    UNION ALL
    SELECT
        'model' AS by,
        {model} AS name,
        uniqExact(turn_id) AS turns,
        round(sum(duration), 3) AS took_seconds,
        sum(c.cost_usd) AS cost_usd,
        argMax(turn_id, (ifNull(c.cost_usd, 0), turn_id)) AS turn
    FROM llm_call AS c
    WHERE {chosen:start_time}
    GROUP BY by, name
)
ORDER BY indexOf(['repository', 'agent', 'model', 'task'], by), cost_usd DESC, took_seconds DESC, name
LIMIT {limit:UInt32} BY by
