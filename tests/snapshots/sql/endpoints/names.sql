SELECT
 'session' AS kind,
 toString(session_id) AS found,
 project
FROM turn_summary
WHERE (positionCaseInsensitiveUTF8(session_id, {text:String}) > 0) AND (({project:String} = '') OR (project = {project:String}))
GROUP BY
 found,
 project
ORDER BY
 max(start_time) DESC,
 found ASC,
 project ASC
LIMIT {each:UInt32}
UNION ALL
SELECT
 'agent' AS kind,
 toString(agent_name) AS found,
 project
FROM turn_summary
WHERE (positionCaseInsensitiveUTF8(agent_name, {text:String}) > 0) AND (({project:String} = '') OR (project = {project:String}))
GROUP BY
 found,
 project
ORDER BY
 max(start_time) DESC,
 found ASC,
 project ASC
LIMIT {each:UInt32}
UNION ALL
SELECT
 'tool' AS kind,
 toString(name) AS found,
 project
FROM tool_call
WHERE (positionCaseInsensitiveUTF8(name, {text:String}) > 0) AND (({project:String} = '') OR (project = {project:String}))
GROUP BY
 found,
 project
ORDER BY
 max(start_time) DESC,
 found ASC,
 project ASC
LIMIT {each:UInt32}
UNION ALL
SELECT
 'model' AS kind,
 toString(arrayJoin(models)) AS found,
 project
FROM turn_summary
WHERE (positionCaseInsensitiveUTF8(arrayJoin(models), {text:String}) > 0) AND (({project:String} = '') OR (project = {project:String}))
GROUP BY
 found,
 project
ORDER BY
 max(start_time) DESC,
 found ASC,
 project ASC
LIMIT {each:UInt32};
