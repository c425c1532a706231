-- Each rollout with its attempts in order and the one that counts: the one it names, else the last
-- that succeeded, else the last.
CREATE OR REPLACE VIEW {database}.rollout_current {on_cluster} AS
SELECT
    project,
    lineage_id,
    rollout_id,
    max(of_cycle) AS cycle,
    max(said_task) AS task,
    if(max(said_version) = '', max(tried_version), max(said_version)) AS version_id,
    min(begun) AS started_at,
    max(said_duration) AS duration,
    arraySort(groupArrayIf((begun, attempt, state), attempt != '')) AS tried,
    arrayMap(one -> one.2, tried) AS attempts,
    multiIf(
        max(named) != '', max(named),
        arrayExists(one -> one.3 = 'succeeded', tried),
            arrayLast(one -> one.3 = 'succeeded', tried).2,
        empty(tried), '',
        tried[-1].2) AS final_attempt_id,
    if(max(said_state) != '', max(said_state),
        arrayFirst(one -> one.2 = final_attempt_id, tried).3) AS status,
    max(failed_with) AS error_type
FROM
(
    SELECT project, lineage_id, rollout_id, cycle AS of_cycle, task AS said_task,
        version_id AS said_version, '' AS tried_version, started_at AS begun,
        r.duration AS said_duration, '' AS attempt, '' AS state, final_attempt_id AS named,
        toString(r.status) AS said_state, toString(r.error_type) AS failed_with
    FROM {database}.rollout AS r FINAL
    UNION ALL
    SELECT project, lineage_id, rollout_id, cycle, '', '', version_id, started_at, 0,
        attempt_id, toString(a.status), '', '', ''
    FROM {database}.attempt AS a FINAL
)
GROUP BY project, lineage_id, rollout_id
