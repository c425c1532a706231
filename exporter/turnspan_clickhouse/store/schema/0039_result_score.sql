-- What attempts and artifacts were judged with: one row for each of them and each kind of score.
-- `unit` is what counts once: an attempt with all that it wrote, or an artifact of no attempt.
CREATE OR REPLACE VIEW {database}.result_score {on_cluster} AS
SELECT
    project,
    subject_kind,
    subject_id,
    max(of_lineage) AS lineage_id,
    max(of_rollout) AS rollout_id,
    max(of_attempt) AS attempt_id,
    max(of_version) AS version_id,
    max(of_cycle) AS cycle,
    if(attempt_id = '', subject_id, attempt_id) AS unit,
    arrayJoin(groupArrayIf((said_kind, assumeNotNull(said_score)), isNotNull(said_score))) AS judged,
    judged.1 AS kind,
    judged.2 AS score
FROM
(
    SELECT project, 'attempt' AS subject_kind, attempt_id AS subject_id, lineage_id AS of_lineage,
        rollout_id AS of_rollout, attempt_id AS of_attempt, version_id AS of_version,
        attempt.cycle AS of_cycle, '' AS said_kind, CAST(NULL AS Nullable(Float64)) AS said_score
    FROM {database}.attempt FINAL
    UNION ALL
    SELECT project, 'artifact', artifact_id, lineage_id, rollout_id, attempt_id, version_id,
        ifNull(artifact.cycle, 0), '', NULL
    FROM {database}.artifact FINAL
    UNION ALL
    SELECT project, toString(subject_kind), subject_id, '', '', '', '', 0, toString(kind), score
    FROM {database}.annotation_current
    WHERE subject_kind IN ('attempt', 'artifact') AND isNotNull(score)
        AND (kind = 'score' OR startsWith(kind, 'evaluation:'))
)
GROUP BY project, subject_kind, subject_id
