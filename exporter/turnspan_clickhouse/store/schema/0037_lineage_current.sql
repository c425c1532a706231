-- Each lineage with what holds of it now: strategy, directives, whether it is locked.
CREATE OR REPLACE VIEW {database}.lineage_current {on_cluster} AS
SELECT
    project,
    max(of_experiment) AS experiment_id,
    lineage_id,
    max(called) AS label,
    argMaxIf(said, at, what = 'strategy') AS strategy,
    argMaxIf(said, at, what = 'directive') AS directive,
    -- What was said once holds for the next rollout: that uses it up.
    arrayMap(one -> one.2, arraySort(arrayFilter(one -> one.1 > maxIf(at, what = 'rollout'),
        groupArrayIf((at, said), what = 'once')))) AS once,
    argMaxIf(what = 'locked', at, what IN ('locked', 'unlocked')) AS locked,
    maxIf(at, what IN ('locked', 'unlocked')) AS locked_time,
    maxIf(cycle, what = 'rollout') AS last_cycle,
    -- As what was said once: the next rollout is what was asked for.
    maxIf(at, what = 'evolve') > maxIf(at, what = 'rollout') AS evolve
FROM
(
    SELECT project, experiment_id AS of_experiment, lineage_id, label AS called,
        '' AS what, '' AS said, opened_at AS at, toUInt32(0) AS cycle
    FROM {database}.lineage FINAL
    UNION ALL
    SELECT project, '', lineage_id, '', toString(kind), text, created_at, 0
    FROM {database}.lineage_event FINAL
    UNION ALL
    SELECT project, '', lineage_id, '', 'rollout', '', started_at, rollout.cycle
    FROM {database}.rollout FINAL
)
GROUP BY project, lineage_id
