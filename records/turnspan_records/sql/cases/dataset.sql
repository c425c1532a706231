SELECT input, input_json, expected, expected_json, tags, session_id, turn_id
FROM dataset_case
WHERE project = {project:String} AND dataset = {dataset:String} AND version = {version:String}
ORDER BY position, case_id
