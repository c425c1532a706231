SELECT session_id, groupUniqArray(target) AS targets
FROM artifact
WHERE project = {project:String} AND session_id IN {sessions:Array(String)}
GROUP BY session_id
