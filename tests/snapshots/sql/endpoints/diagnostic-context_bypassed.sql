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
  uniqCombinedIf(turn_id, bypassed AND (turn_id != '')) AS turns,
  maxIf(start_time, bypassed) AS last_time,
  argMaxIf(assembly_id, start_time, bypassed) AS last_one
 FROM context_assembly
 WHERE (status = 'final') AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
 GROUP BY
  task_type,
  bypass_reason
)
WHERE contexts > 0
ORDER BY
 contexts DESC,
 task_type ASC,
 reason ASC
LIMIT {limit:UInt32};
