WITH
 judged AS
 (
  SELECT
   project,
   lineage_id,
   evolution_id,
   changes,
   score_delta
  FROM evolution_outcome
  WHERE isNotNull(score_delta) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (created_at >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (created_at < {until:DateTime64(9, 'UTC')}))
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
 SELECT
  project,
  evolution_id,
  score_delta,
  toString(arrayJoin(mapKeys(changes))) AS change,
  '' AS pattern
 FROM judged
 UNION ALL
 SELECT
  i.project,
  j.evolution_id,
  j.score_delta,
  i.change_kind,
  i.pattern
 FROM
 (
  SELECT
   project,
   lineage_id,
   pattern,
   toString(change) AS change_kind,
   evolution_ids
  FROM insight
 ) AS i
 INNER JOIN
 (
  SELECT *
  FROM judged
 ) AS j ON j.project = i.project
 WHERE if(empty(i.evolution_ids), (i.lineage_id IN ('', j.lineage_id)) AND mapContains(j.changes, i.change_kind), has(i.evolution_ids, j.evolution_id))
)
GROUP BY
 project,
 change,
 pattern
ORDER BY
 average_impact DESC,
 successes DESC,
 change ASC,
 pattern ASC
LIMIT {limit:UInt32};
