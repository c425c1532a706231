-- title: Contexts that were bypassed
-- question: How often is the assembly of a context skipped, why, and in which tasks?
-- remedy: Look at one with `turnspan context ID`, and at its turn's answer: a pre-check that skips too often leaves the model without sources.
SELECT
    task_type,
    if(bypass_reason = '', '(none given)', bypass_reason) AS reason,
    bypassed_here AS contexts,
    contexts / of_task AS share,
    turns,
    last_time,
    last_one AS assembly
FROM
(
    SELECT
        task_type,
        bypass_reason,
        countIf(bypassed) AS bypassed_here,
        sum(count()) OVER (PARTITION BY task_type) AS of_task,
        uniqCombinedIf(turn_id, bypassed AND turn_id != '') AS turns,
        maxIf(start_time, bypassed) AS last_time,
        argMaxIf(assembly_id, start_time, bypassed) AS last_one
    FROM context_assembly
    WHERE status = 'final'
        AND {chosen:start_time}
    GROUP BY task_type, bypass_reason
)
WHERE contexts > 0
ORDER BY contexts DESC, task_type, reason
LIMIT {limit:UInt32}
