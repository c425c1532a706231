-- title: Insights
-- question: Which kinds of change made agents better, how often, and by how much?
-- remedy: Only evolutions whose versions were both judged count: judge attempts and artifacts with `turnspan annotate ID --score`. `turnspan lineage` shows each change with its expected effect.
WITH
    judged AS
    (
        SELECT project, lineage_id, evolution_id, changes, score_delta
        FROM evolution_outcome
        WHERE isNotNull(score_delta)
            AND {chosen:created_at}
    )
SELECT
    project,
    change,
    countIf(score_delta > 0) AS successes,
    countIf(score_delta <= 0) AS missed,
    successes / count() AS success_rate,
    round(avg(score_delta), 2) AS average_impact,
    round(max(score_delta), 2) AS best_impact,
    pattern AS pattern_text
FROM
(
    SELECT project, evolution_id, score_delta, toString(arrayJoin(mapKeys(changes))) AS change, '' AS pattern
    FROM judged
    UNION ALL
    -- A pattern that somebody saw: in the evolutions that it names, else in those of its kind.
    SELECT i.project, j.evolution_id, j.score_delta, i.change_kind, i.pattern
    FROM
    (
        SELECT project, lineage_id, pattern, toString(change) AS change_kind, evolution_ids
        FROM insight
    ) AS i
    INNER JOIN (SELECT * FROM judged) AS j ON j.project = i.project
    WHERE if(empty(i.evolution_ids),
        i.lineage_id IN ('', j.lineage_id) AND mapContains(j.changes, i.change_kind),
        has(i.evolution_ids, j.evolution_id))
)
GROUP BY project, change, pattern
ORDER BY average_impact DESC, successes DESC, change, pattern
LIMIT {limit:UInt32}
