-- Each evolution with what came of it, from the judgments of what both versions did: of the kinds of
-- score that both have, `score` alone if it is among them. NULL until both are judged.
CREATE OR REPLACE VIEW {database}.evolution_outcome {on_cluster} AS
WITH
    counted AS
    (
        -- Of a rollout, only the attempt that counts; an average of each unit, so that an attempt
        -- that wrote more does not weigh more.
        SELECT project, lineage_id, version_id, kind, avg(unit_score) AS mean, count() AS judged
        FROM
        (
            SELECT s.project AS project, s.lineage_id AS lineage_id, s.version_id AS version_id,
                s.kind AS kind, s.unit AS unit, avg(s.score) AS unit_score
            FROM (SELECT * FROM {database}.result_score) AS s
            LEFT JOIN
            (
                SELECT project, rollout_id, final_attempt_id FROM {database}.rollout_current
            ) AS r ON r.project = s.project AND r.rollout_id = s.rollout_id
            WHERE s.attempt_id = '' OR r.final_attempt_id IN ('', s.attempt_id)
            GROUP BY project, lineage_id, version_id, kind, unit
        )
        GROUP BY project, lineage_id, version_id, kind
    ),
    scored AS
    (
        SELECT project, lineage_id, version_id,
            mapFromArrays(groupArray(kind), groupArray(mean)) AS scores, max(judged) AS units
        FROM counted
        GROUP BY project, lineage_id, version_id
    )
SELECT
    e.project AS project,
    e.lineage_id AS lineage_id,
    e.evolution_id AS evolution_id,
    e.from_version AS from_version,
    e.to_version AS to_version,
    e.trigger AS trigger,
    e.hypothesis AS hypothesis,
    e.plan AS plan,
    e.changes AS changes,
    e.author AS author,
    e.created_at AS created_at,
    before.units AS from_judged,
    after.units AS to_judged,
    arrayFilter(kind -> mapContains(after.scores, kind), mapKeys(before.scores)) AS common,
    if(has(common, 'score'), ['score'], common) AS compared,
    if(empty(compared), NULL, arrayAvg(kind -> before.scores[kind], compared)) AS from_score,
    if(empty(compared), NULL, arrayAvg(kind -> after.scores[kind], compared)) AS next_score,
    next_score - from_score AS score_delta,
    score_delta > 0 AS hypothesis_validated
FROM (SELECT * FROM {database}.evolution FINAL) AS e
LEFT JOIN scored AS before ON before.project = e.project AND before.lineage_id = e.lineage_id
    AND before.version_id = e.from_version
LEFT JOIN scored AS after ON after.project = e.project AND after.lineage_id = e.lineage_id
    AND after.version_id = e.to_version
