-- Every attempt of an experiment with its scores. Cases are tasks, and repetitions are cycles, as
-- `turnspan experiment run` makes them. A version has its name, else its lineage's label.
CREATE OR REPLACE VIEW {database}.experiment_result {on_cluster} AS
SELECT
    a.project AS project,
    l.experiment_id AS experiment_id,
    a.lineage_id AS lineage_id,
    if(v.name = '', l.label, v.name) AS version,
    r.task AS case_id,
    a.cycle AS repetition,
    a.attempt_id AS attempt_id,
    a.status AS status,
    a.error_type AS error_type,
    a.started_at AS started_at,
    a.duration AS duration,
    s.scores AS scores,
    s.labels AS labels
FROM (SELECT * FROM {database}.attempt FINAL) AS a
INNER JOIN (SELECT project, lineage_id, experiment_id, label FROM {database}.lineage FINAL) AS l
    ON l.project = a.project AND l.lineage_id = a.lineage_id
LEFT JOIN (SELECT project, rollout_id, task FROM {database}.rollout FINAL) AS r
    ON r.project = a.project AND r.rollout_id = a.rollout_id
LEFT JOIN
(
    SELECT project, lineage_id, version_id, name FROM {database}.agent_version FINAL
) AS v ON v.project = a.project AND v.lineage_id = a.lineage_id AND v.version_id = a.version_id
LEFT JOIN
(
    SELECT project, subject_id,
        mapFromArrays(
            groupArrayIf(substring(kind, 12), isNotNull(score)),
            groupArrayIf(assumeNotNull(score), isNotNull(score))) AS scores,
        mapFromArrays(
            groupArrayIf(substring(kind, 12), outcome != ''),
            groupArrayIf(toString(outcome), outcome != '')) AS labels
    FROM {database}.annotation_current
    WHERE subject_kind = 'attempt' AND startsWith(kind, 'evaluation:')
    GROUP BY project, subject_id
) AS s ON s.project = a.project AND s.subject_id = a.attempt_id
