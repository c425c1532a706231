-- Versions of agents in turns, and in the attempts of lineages.
SELECT DISTINCT project, '' AS experiment, '' AS lineage, '' AS label,
    toString(agent_version) AS version, '' AS name
FROM turn_summary
WHERE {of_project} AND agent_version != ''
UNION ALL
SELECT a.project, l.experiment_id, a.lineage_id, l.label, a.version_id, v.name
FROM (SELECT DISTINCT project, lineage_id, version_id FROM attempt WHERE {of_project}) AS a
LEFT JOIN lineage AS l ON l.project = a.project AND l.lineage_id = a.lineage_id
LEFT JOIN agent_version AS v ON v.project = a.project AND v.lineage_id = a.lineage_id
    AND v.version_id = a.version_id
