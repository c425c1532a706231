SELECT
 project,
 dataset,
 version,
 count() AS cases,
 countIf(expected != '') AS with_expected,
 countIf(turn_id != '') AS from_turns,
 max(d.created_at) AS created_at
FROM dataset_case AS d
WHERE (({project:String} = '') OR (project = {project:String})) AND (({dataset:String} = '') OR (dataset = {dataset:String}))
GROUP BY
 project,
 dataset,
 version
ORDER BY
 created_at DESC,
 dataset ASC,
 version ASC
LIMIT {limit:UInt32};
