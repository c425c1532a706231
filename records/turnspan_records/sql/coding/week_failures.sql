-- title: Tasks that failed
-- question: Which kinds of tasks ended without success, how, and with which failing tool?
-- remedy: Open the last turn. `turnspan why TURN` gives the evidence of its stop reason.
SELECT
    task,
    end AS stop_reason,
    turns,
    turns / whole AS share,
    cost_usd,
    tool AS failing_tool,
    turn
FROM
(
    SELECT
        task,
        end,
        count() AS turns,
        sum(turns) OVER (PARTITION BY task) AS whole,
        sum(t.cost_usd) AS cost_usd,
        arrayElement(topKArray(1)(failing), 1) AS tool,
        argMax(turn_id, (start_time, turn_id)) AS turn
    FROM
    (
        SELECT *, {how_ended} AS end, failed.tools AS failing,
            coalesce(nullIf(toString(task_type), ''), nullIf(toString(turn_intent), ''), 'not named') AS task
        FROM turn_summary AS t
        LEFT JOIN
        (
            SELECT project, turn_id, groupUniqArray(20)(toString(name)) AS tools
            FROM tool_call
            WHERE failed
                AND {chosen:start_time}
            GROUP BY project, turn_id
        ) AS failed USING (project, turn_id)
        WHERE parent_turn_id = '' AND status != 'running'
            AND {chosen:start_time}
    ) AS t
    GROUP BY task, end
)
WHERE end != 'completed'
ORDER BY turns DESC, task, stop_reason
LIMIT {limit:UInt32}
